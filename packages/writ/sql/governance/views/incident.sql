-- Incidents, open and resolved. In the order of lists, as system_contracts.
-- Callers: writ_principal, processes, readers
create or replace view writ.incident with (security_barrier) as
select
  i.incident_id, i.tenant_id, i.capability, i.severity, i.subject, i.summary, i.opened_by,
  i.opened_at, i.resolved_by, i.resolved_at, i.resolution
from writ_data.incident i
where (select writ.visible_tenant() = '') or i.tenant_id = (select writ.visible_tenant())
order by i.incident_id desc;
