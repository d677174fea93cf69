-- API keys, without what authenticates them. In the order of lists, as system_contracts; a join
-- would be hashed and sorted, so the tenant of the principal is looked up.
-- Callers: readers
create or replace view writ.api_key with (security_barrier) as
select
  k.key_id, k.principal_id,
  coalesce(
    k.tenant_id,
    (select p.tenant_id from writ_data.principal p where p.principal_id = k.principal_id)
  ) as tenant_id,
  k.rights, k.label, k.expires_at, k.added_by, k.added_at, k.last_used_at, k.revoked_at
from writ_data.api_key k
where (select writ.visible_tenant() = '')
  or k.tenant_id = (select writ.visible_tenant())
  or (
    select p.tenant_id from writ_data.principal p where p.principal_id = k.principal_id
  ) = (select writ.visible_tenant())
order by k.added_at desc, k.key_id desc;
