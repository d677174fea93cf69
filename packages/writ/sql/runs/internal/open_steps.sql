-- The steps of a run that have been started and have not ended, with their jobs. type: job (also an
-- element of a list), undo, each, wait, timer. A log of another engine may name attempts and jobs
-- as it likes: those are 1 and none here.
create or replace function writ_data.open_steps(p_run uuid)
returns table (step_id text, attempt smallint, step_no smallint, type text, job_id uuid)
language sql stable
begin atomic
  select e.step_id,
    case when r.engine = 'native' then e.logical_attempt else '1' end::smallint, s.step_no,
    case
      when e.step_id like 'undo:%' then 'undo'
      when e.step_id like '%]' then 'job'
      else s.type
    end,
    case when r.engine = 'native' then e.data ->> 'jobId' end::uuid
  from writ_data.run_event e
  join writ_data.run r on r.run_id = p_run
  left join writ_data.plan_step s on s.plan_no = r.plan_no
    and s.step_id = regexp_replace(regexp_replace(e.step_id, '^undo:', ''), '\[\d+\]$', '')
  where e.run_id = p_run and e.event_type = 'StepStarted'
    and not exists (
      select from writ_data.run_event x
      where x.run_id = p_run and x.step_id = e.step_id and x.logical_attempt = e.logical_attempt
        and x.event_type in ('StepCompleted', 'StepFailed', 'StepSkipped'));
end;
