-- Returns how long the soaks of some valid steps last together, in milliseconds.
create or replace function writ_data.soak_ms(p_steps jsonb) returns bigint
language sql immutable
begin atomic
  select coalesce(sum((s #>> '{parameters,duration_ms}')::bigint), 0)::bigint
  from jsonb_array_elements(p_steps) s
  where s ->> 'step_type' = 'soak';
end;
