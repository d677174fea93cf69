-- Returns the values that stand in the places that steps change, {slot: value}; null where there is
-- nothing. A place outside the database has the value that p_read says; one that p_read does not
-- name is not in the answer.
-- Raises:  WR001 value_not_canonical, for a value of p_read whose numbers are not exact.
create or replace function writ_data.state_of(
  p_tenant text,
  p_steps jsonb,
  p_read jsonb default '{}'
) returns jsonb
language sql stable
begin atomic
  select coalesce(jsonb_object_agg(x.slot, x.value), '{}')
  from (
    select distinct on (s.slot)
      s.slot,
      case
        when s.step_type like 'capability\_%' then coalesce(
          (
            select to_jsonb(c.lifecycle) from writ_data.capability c
            where c.tenant_id = p_tenant and c.capability_name = s.target
          ),
          'null'
        )
        when s.step_type = 'config_update' then coalesce(
          (
            select v.value from writ_data.configuration v
            where v.tenant_id = p_tenant and v.scope = s.target and v.key = s.key
          ),
          'null'
        )
        else writ_data.exact(p_read -> s.slot, s.slot)
      end as value
    from writ_data.slots(p_steps) s
  ) x
  where x.value is not null;
end;
