-- Configurations, also those without a value, and the capabilities whose health counts for them.
-- Callers: writ_principal, processes, readers
create or replace view writ.configuration_scope with (security_barrier) as
select
  s.tenant_id, s.scope, s.owner_capability,
  (
    select h.contract_id
    from writ_data.target_hold h
    where h.tenant_id = s.tenant_id and h.target = s.scope
  ) as held_by
from writ_data.configuration_scope s
where (select writ.visible_tenant()) in ('', s.tenant_id);
