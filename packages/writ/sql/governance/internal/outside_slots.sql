-- Returns the places outside the database that steps change, with the users' step types that can
-- read them.
create or replace function writ_data.outside_slots(p_steps jsonb)
returns table (slot text, step_type text)
language sql immutable
begin atomic
  select distinct on (s.slot) s.slot, s.step_type
  from writ_data.slots(p_steps) s
  where s.step_type not in ('capability_enable', 'capability_disable', 'config_update')
  order by s.slot, s.step_no;
end;
