-- Registrations of database logins, with who registered each. Unregistered logins have no row.
-- Callers: readers
create or replace view writ.login with (security_barrier) as
select
  l.login::text as login,
  l.principal_id,
  l.tenant_id,
  l.roles,
  l.put_by,
  l.put_at
from writ_data.login l
where (select writ.visible_tenant()) in ('', l.tenant_id);
