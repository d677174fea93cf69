-- Incidents, open and resolved.
-- Callers: writ_principal, processes, readers
create or replace view writ.incident as
select i.incident_id, i.tenant_id, i.capability, i.severity, i.subject, i.summary, i.opened_by, i.opened_at, i.resolved_by, i.resolved_at, i.resolution from writ_data.incident i where (select writ.visible_tenant()) in ('', i.tenant_id);
