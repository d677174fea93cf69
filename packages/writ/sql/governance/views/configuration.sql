-- Values of configurations, with the contract that holds each.
-- Callers: writ_principal, processes, readers
create or replace view writ.configuration with (security_barrier) as
select
  v.tenant_id, v.scope, v.key, v.value, v.version, s.owner_capability, v.updated_by, v.updated_at,
  (
    select h.contract_id
    from writ_data.target_hold h
    where h.tenant_id = v.tenant_id and h.target = v.scope
  ) as held_by
from writ_data.configuration v
join writ_data.configuration_scope s on s.tenant_id = v.tenant_id and s.scope = v.scope
where (select writ.visible_tenant()) in ('', v.tenant_id);
