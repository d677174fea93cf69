-- Finds a target that a contract holds and that this capability answers for: the capability itself,
-- or a configuration scope that it owns.
-- Answers: the target; null when none is held.
create or replace function writ_data.held_target(p_tenant text, p_capability text) returns text
language sql stable
begin atomic
  select h.target
  from writ_data.target_hold h
  where h.tenant_id = p_tenant
    and (
      h.target = p_capability
      or exists (
        select from writ_data.configuration_scope o
        where o.tenant_id = p_tenant and o.scope = h.target
          and o.owner_capability = p_capability
      )
    )
  order by h.target
  limit 1;
end;
