-- Returns whether a value of a JSON document is absent, or a whole number within bounds.
create or replace function writ_data.whole_within(
  p_value jsonb,
  p_from bigint,
  p_to bigint
) returns boolean
language sql immutable
return case
  when p_value is null then true
  when jsonb_typeof(p_value) <> 'number' then false
  else p_value::numeric between p_from and p_to and p_value::numeric % 1 = 0
end;
