-- Alerts, standing and cleared.
-- Callers: processes, readers
create or replace view writ.alert with (security_barrier) as
select
  a.alert_id, a.code, a.severity, a.tenant_id, a.subject, a.detail, a.raised_at, a.cleared_at,
  a.cleared_by
from writ_data.alert a
where (select writ.visible_tenant()) in ('', a.tenant_id);
