-- Returns the slots that steps change, and the values that they write: a capability by its name, a
-- value of a configuration as scope#key, anything else by its target. Soaks and signals change
-- nothing.
create or replace function writ_data.slots(p_steps jsonb) returns table (
  step_no integer,
  step_type text,
  target text,
  slot text,
  key text,
  value jsonb
)
language sql immutable
begin atomic
  select
    s.n::integer,
    s.step ->> 'step_type',
    s.step ->> 'target',
    case
      when s.step ->> 'step_type' = 'config_update'
        then concat(s.step ->> 'target', '#', s.step #>> '{parameters,key}')
      else s.step ->> 'target'
    end,
    s.step #>> '{parameters,key}',
    case s.step ->> 'step_type'
      when 'capability_enable'
        then coalesce(s.step #> '{parameters,target_lifecycle}', '"LAUNCHED"')
      when 'capability_disable' then '"DISABLED"'
      when 'config_update' then s.step #> '{parameters,new_value}'
      else s.step #> '{parameters,value}'
    end
  from jsonb_array_elements(p_steps) with ordinality s(step, n)
  where s.step ->> 'step_type' not in ('soak', 'signal_record');
end;
