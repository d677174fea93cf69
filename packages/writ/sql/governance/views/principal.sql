-- Principals, without their credentials.
-- Callers: writ_principal, processes, readers
create or replace view writ.principal with (security_barrier) as
select
  p.principal_id, p.tenant_id, p.kind, p.on_behalf_of, p.rights,
  encode(p.public_key, 'hex') as public_key,
  p.added_by, p.added_at, p.disabled_at, p.permissions
from writ_data.principal p
where (select writ.visible_tenant()) in ('', p.tenant_id) or p.tenant_id is null;
