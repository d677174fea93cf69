-- internal
-- The record of one gate call: one command_run row and one event_batch row, whatever the number of jobs.
-- types[i] happened to subjects[first[i]..last[i]]; ranges that are empty are left out.
-- The low 24 bits of a batch id are zero: a fact's id is its batch's id plus its ordinal.
create or replace function writ_data.record(
  p_command text, p_actor text, p_at timestamptz, p_subjects uuid[],
  p_types text[], p_first integer[], p_last integer[], p_details jsonb default null, p_note text default null
) returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_types text[]; v_first integer[]; v_last integer[];
begin
  select array_agg(t), array_agg(f), array_agg(l) into v_types, v_first, v_last
  from unnest(p_types, p_first, p_last) r(t, f, l) where l >= f;
  if v_types is not null then
    insert into writ_data.event_batch (batch_id, at, actor, types, first, last, subjects, details)
    values ((left(writ_data.uuidv7()::text, 30) || '000000')::uuid, p_at, p_actor, v_types, v_first, v_last, p_subjects, p_details);
  end if;
  insert into writ_data.command_run (run_id, at, command, actor, jobs, note)
  values (writ_data.uuidv7(), p_at, p_command, p_actor, coalesce(cardinality(p_subjects), 0), p_note);
end $$;
