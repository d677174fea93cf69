-- API keys, without what authenticates them.
-- Callers: readers
create or replace view writ.api_key with (security_barrier) as
select
  k.key_id, k.principal_id, coalesce(k.tenant_id, p.tenant_id) as tenant_id, k.rights, k.label,
  k.expires_at, k.added_by, k.added_at, k.last_used_at, k.revoked_at
from writ_data.api_key k
join writ_data.principal p on p.principal_id = k.principal_id
where (select writ.visible_tenant()) in ('', k.tenant_id, p.tenant_id);
