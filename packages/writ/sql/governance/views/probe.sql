-- Probes, each with its last answer and the time of its next query.
-- Callers: writ_principal, processes, readers
create or replace view writ.probe with (security_barrier) as
select
  p.tenant_id, p.name, p.capability, p.type, p.config, p.every_ms, p.timeout_ms, p.status, p.detail,
  p.checked_at,
  case
    when p.type in ('http', 'sql', 'prometheus') then nullif(p.due_at, '-infinity')
  end as due_at,
  p.put_by, p.put_at
from writ_data.probe p
where (select writ.visible_tenant()) in ('', p.tenant_id);
