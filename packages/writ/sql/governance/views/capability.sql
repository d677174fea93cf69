-- Capabilities, with the contract that holds each.
-- Callers: writ_principal, processes, readers
create or replace view writ.capability with (security_barrier) as
select
  c.tenant_id, c.capability_name, c.domain, c.lifecycle, c.version, c.monitored, c.frozen,
  c.disqualified, c.updated_by, c.updated_at,
  (
    select h.contract_id
    from writ_data.target_hold h
    where h.tenant_id = c.tenant_id and h.target = c.capability_name
  ) as held_by
from writ_data.capability c
where (select writ.visible_tenant()) in ('', c.tenant_id);
