-- Executions that were committed have become DONE. A step whose event stands already has moved its run on; one that was committed by the queue's gate alone has not.
create or replace function writ_data.steps_committed(p_jobs uuid[], p_command text, p_actor text, p_at timestamptz) returns void language plpgsql
  set enable_seqscan = off as $$
declare
  v_jobs uuid[]; v_results text[]; v_attempts smallint[];
begin
  perform writ_data.lock_runs(array_agg(distinct j.run_id)) from writ_data.job j where j.job_id = any (p_jobs) and j.run_id is not null having count(*) > 0;
  select array_agg(j.job_id), array_agg(e.result::text), array_agg(e.attempt) into v_jobs, v_results, v_attempts
  from writ_data.job j join writ_data.job_execution e on e.job_id = j.job_id and e.status = 'DONE'
  join writ_data.run r on r.run_id = j.run_id join writ_data.plan_step s on s.plan_no = r.plan_no and s.step_no = j.step_no
  where j.job_id = any (p_jobs) and j.run_id is not null
    and not exists (select from writ_data.run_event x where x.run_id = j.run_id and x.event_type = 'StepCompleted' and x.logical_attempt = j.logical_attempt::text
      and x.step_id = writ_data.step_name(j.run_id, s.step_id, j.step_no, j.place, j.logical_attempt, coalesce(j.undo, false)));
  if v_jobs is not null then
    perform from writ_data.end_steps(v_jobs, v_results, v_attempts, p_command, p_actor, p_at);
  end if;
end $$;
