-- Versions of plans, as the bytes that are hashed. registered_for: the only tenant that has it;
-- null: all.
-- Callers: processes, readers
create or replace view writ.plan with (security_barrier) as
select p.plan_id, p.plan_version, encode(p.sha256, 'hex') as sha256,
  octet_length(p.document) as size_bytes, p.document, p.registered_by, p.registered_at,
  nullif(p.tenant_id, '') as registered_for, p.plan_no
from writ_data.plan p
where (select writ.visible_tenant()) in ('', p.tenant_id) or p.tenant_id = '';
