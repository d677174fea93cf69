-- The steps of a rollback job: every step of a forward job that has begun, can be undone and was
-- not restored by an earlier rollback, the last first. Null: there is nothing to undo. A step names
-- the step that it undoes in undo_of, beside its parameters. A contract's step has no such field
-- (wrong_with), and only a job of kind rollback reads it.
create or replace function writ_data.steps_to_undo(p_job uuid) returns jsonb
language sql stable
begin atomic
  select jsonb_agg(
    jsonb_build_object(
      'step_type', s.step_type, 'target', s.target, 'parameters', '{}'::jsonb, 'undo_of', s.step_no
    ) order by s.step_no desc
  )
  from writ_data.governance_step s
  where s.job_id = p_job
    and s.rollback_action is not null
    and not exists (
      select from writ_data.governance_job r
      join writ_data.governance_step u on u.job_id = r.job_id
      where r.of_job_id = p_job and u.of_step_no = s.step_no and u.done_at is not null
    );
end;
