-- Writes one row of the record for a gate call, whatever the number of jobs: who called what, and
-- that types[i] happened to subjects[first[i]..last[i]]. A range with last < first is empty.
-- Answers the id of the row. Its low 24 bits are zero: a fact's id is its batch's id plus its
-- ordinal.
create or replace function writ_data.record(
  p_command text,
  p_actor text,
  p_at timestamptz,
  p_subjects uuid[],
  p_types text[],
  p_first integer[],
  p_last integer[],
  p_details jsonb default null,
  p_note text default null
) returns uuid
language plpgsql
as $$
declare
  v_batch uuid := (left(writ_data.uuidv7()::text, 30) || '000000')::uuid;
begin
  if not writ_data.record_stands() then
    perform writ_data.open_days();  -- it is the first call after days without a worker
  end if;
  insert into writ_data.event_batch (
    batch_id, at, command, actor, types, first, last, subjects, details, note
  ) values (
    v_batch, p_at, p_command, p_actor, p_types, p_first, p_last, p_subjects, p_details, p_note
  );

  perform writ_data.on_recorded(p_at);
  return v_batch;
end $$;
