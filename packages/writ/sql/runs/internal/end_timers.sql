-- A timer has done what it is there for; a wait has waited in vain, and fails or is skipped. The
-- caller has locked the runs and the rows in job_wait.
create or replace function writ_data.end_timers(
  p_jobs uuid[],
  p_actor text,
  p_at timestamptz
) returns void
language plpgsql
set enable_seqscan = off
as $$
declare
  v_timers uuid[] := '{}'::uuid[];
  v_n integer;
  t record;
begin
  delete from writ_data.job_wait where job_id = any (p_jobs);

  for t in
    select j.job_id, j.run_id, j.logical_attempt, s.*
    from unnest(p_jobs) u(id)
    join writ_data.job j on j.job_id = u.id
    join writ_data.run r on r.run_id = j.run_id
    join writ_data.plan_step s on s.plan_no = r.plan_no and s.step_no = j.step_no
  loop
    -- A run that ended while another transaction was moving the row has closed the step already.
    if exists (
      select from writ_data.run_event e
      where e.run_id = t.run_id and e.step_id = t.step_id
        and e.logical_attempt = t.logical_attempt::text
        and e.event_type in ('StepCompleted', 'StepFailed', 'StepSkipped')) then
      insert into writ_data.job_execution (job_id, execution_no, attempt, lease_owner, status,
        abort_kind, final, finished_at, error_code, error_message)
      values (t.job_id, 1, 1, p_actor, 'ABORTED', 'cancelled', true, p_at, 'run_ending',
        'The run is ending.');
    elsif t.type = 'timer' then
      v_timers := v_timers || t.job_id;
      insert into writ_data.job_execution (job_id, execution_no, attempt, lease_owner, status,
        started_at, committed_at, finished_at)
      values (t.job_id, 1, 1, p_actor, 'DONE', p_at, p_at, p_at);
    else
      insert into writ_data.job_execution (job_id, execution_no, attempt, lease_owner, status,
        abort_kind, final, finished_at, error_code, error_message)
      values (t.job_id, 1, 1, p_actor, 'ABORTED', 'cancelled', true, p_at, 'timeout',
        format('%s did not come in time.', t.event));
      if t.on_timeout = 'skip' then
        perform writ_data.append_events(array[t.run_id], array['StepSkipped'], array[t.step_id],
          array[t.logical_attempt::text], array[1],
          array['{"reasonCode": "CONDITION_FALSE", "timedOut": true}'::jsonb], null, null,
          'fn_job_tick', p_actor, p_at);
        perform writ_data.move_run(t.run_id, t.next, p_actor, p_at);
      else
        perform writ_data.steps_failed(array[t.job_id], array['timeout'],
          array[format('%s did not come in time.', t.event)], array[1], 'fn_job_tick', p_actor,
          p_at);
      end if;
    end if;
  end loop;

  if v_timers <> '{}' then
    v_n := cardinality(v_timers);
    perform from writ_data.steps_ended(v_timers, array_fill(null::text, array[v_n]),
      array_fill(1::smallint, array[v_n]), 'fn_job_tick', p_actor, p_at);
  end if;
end $$;
