-- Returns whether a step has begun, or waits in the queue to begin: it has an event, or a job that
-- has not ended.
create or replace function writ_data.step_begun(
  p_run uuid,
  p_step writ_data.plan_step
) returns boolean
language sql stable
return exists (
  select from writ_data.run_event e where e.run_id = p_run and e.step_id = p_step.step_id
)
  or exists (
    select from writ_data.job j
    where j.run_id = p_run
      and j.step_no = p_step.step_no
      and j.undo is null
      and not exists (
        select from writ_data.job_execution e
        where e.job_id = j.job_id and (e.final or e.status <> 'ABORTED')
      )
  );
