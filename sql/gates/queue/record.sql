-- internal
-- The record of one gate call: one command_run row and one event_batch row, whatever the number of jobs.
-- types[i] happened to subjects[first[i]..last[i]]; a range with last < first is empty. Both rows have the same id; its low 24 bits are
-- zero, so that a fact's id is its batch's id plus its ordinal.
create or replace function writ_data.record(
  p_command text, p_actor text, p_at timestamptz, p_subjects uuid[],
  p_types text[], p_first integer[], p_last integer[], p_details jsonb default null, p_note text default null
) returns void language plpgsql as $$
declare
  v_id uuid := (left(writ_data.uuidv7()::text, 30) || '000000')::uuid;
begin
  if cardinality(p_types) > 0 then
    insert into writ_data.event_batch (batch_id, at, actor, types, first, last, subjects, details)
    values (v_id, p_at, p_actor, p_types, p_first, p_last, p_subjects, p_details);
  end if;
  insert into writ_data.command_run (run_id, at, command, actor, jobs, note)
  values (v_id, p_at, p_command, p_actor, cardinality(p_subjects), p_note);
end $$;
