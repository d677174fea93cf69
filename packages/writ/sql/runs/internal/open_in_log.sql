-- A step that keeps a run of another engine from being completed: one that has begun and not ended,
-- or one that is not optional and has neither completed nor been skipped; null if there is none.
-- The attempts of such a log have names, not numbers.
create or replace function writ_data.open_in_log(
  p_run uuid,
  p_plan integer
) returns text
language plpgsql stable
set enable_seqscan = off
as $$
begin
  return coalesce((
    select e.step_id
    from writ_data.run_event e
    where e.run_id = p_run and e.event_type = 'StepStarted'
      and not exists (
        select from writ_data.run_event x
        where x.run_id = p_run and x.step_id = e.step_id
          and (x.event_type in ('StepCompleted', 'StepSkipped')
            or x.event_type = 'StepFailed' and x.logical_attempt = e.logical_attempt))
    order by e.run_seq
    limit 1), (
    select s.step_id
    from writ_data.plan_step s
    where s.plan_no = p_plan and not s.optional
      and not exists (
        select from writ_data.run_event x
        where x.run_id = p_run and x.step_id = s.step_id
          and x.event_type in ('StepCompleted', 'StepSkipped'))
    order by s.step_no
    limit 1));
end $$;
