-- When the first timer of a governor is due, of what waits for it.
create or replace function writ_data.first_due(
  p_waiting jsonb
) returns timestamptz
language sql immutable
begin atomic
  select to_timestamp(min((t.timer ->> 'due')::bigint) / 1000.0)
  from jsonb_array_elements(p_waiting -> 'timers') t(timer)
  where jsonb_typeof(t.timer -> 'due') = 'number';
end;
