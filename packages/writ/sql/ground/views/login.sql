-- What database logins are registered for, and by whom. Unregistered logins have no row.
-- Callers: readers
create or replace view writ.login as
select
  l.login::text as login,
  l.principal_id,
  l.tenant_id,
  l.roles,
  l.put_by,
  l.put_at
from writ_data.login l
where (select writ.visible_tenant()) in ('', l.tenant_id);
