-- Returns the state of a step of a run, from its last event: open (begun, or to be retried),
-- completed, skipped, blocked (skipped because of a step before it) or failed; null if it has not
-- begun.
create or replace function writ_data.step_stands(p_run uuid, p_step_id text) returns text
language sql stable
return (
  select case
    when e.event_type = 'StepStarted'
      or e.event_type = 'StepFailed'
        and exists (
          select from writ_data.run_event x
          where x.run_id = p_run
            and x.run_seq > e.run_seq
            and x.step_id = 'RUN'
            and x.event_type = 'SignalAccepted'
            and x.data ->> 'type' = 'RETRY_STEP'
            and x.data ->> 'stepId' = p_step_id
        )
      then 'open'
    when e.event_type = 'StepCompleted' then 'completed'
    when e.event_type = 'StepFailed' then 'failed'
    when e.data ->> 'reasonCode' = 'DEPENDENCY_FAILED' then 'blocked'
    else 'skipped'
  end
  from writ_data.run_event e
  where e.run_id = p_run and e.step_id = p_step_id
  order by e.run_seq desc
  limit 1
);
