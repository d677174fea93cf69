-- Returns which capability among some targets is frozen (of a configuration scope: its owner), and
-- why. Null: none is.
create or replace function writ_data.frozen_by(p_tenant text, p_targets text[]) returns text
language sql stable
begin atomic
  select format('%s: %s', c.capability_name, c.frozen)
  from unnest(p_targets) t(target)
  left join writ_data.configuration_scope o on o.tenant_id = p_tenant and o.scope = t.target
  join writ_data.capability c
    on c.tenant_id = p_tenant and c.capability_name = coalesce(o.owner_capability, t.target)
  where c.frozen is not null
  order by c.capability_name limit 1;
end;
