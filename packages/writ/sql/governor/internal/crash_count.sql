-- How many of these crashes were within the last minute.
create or replace function writ_data.crash_count(
  p_crashes timestamptz[],
  p_at timestamptz
) returns integer
language sql immutable
begin atomic
  select count(*)::integer
  from unnest(p_crashes) c
  where c > p_at - interval '1 minute' and c <= p_at;
end;
