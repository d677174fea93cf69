-- Entitlements of tenants, and how much of their quota they have used this month.
-- Callers: writ_principal, processes, readers
create or replace view writ.entitlement with (security_barrier) as
select
  e.tenant_id, e.entitlement_id, e.status, e.tier, e.quota_limit,
  coalesce(q.used, 0) as quota_used,
  e.expires_at, e.put_by, e.put_at
from writ_data.entitlement e
left join writ_data.governor_quota q
  on q.tenant_id = e.tenant_id
  and q.month = to_char(writ.now() at time zone 'UTC', 'YYYY-MM')
where (select writ.visible_tenant()) in ('', e.tenant_id);
