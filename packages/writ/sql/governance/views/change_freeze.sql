-- Freezes, those that were lifted or have ended among them.
-- Callers: writ_principal, processes, readers
create or replace view writ.change_freeze with (security_barrier) as
select
  f.freeze_id, f.tenant_id, f.reason, f.begins_at, nullif(f.ends_at, 'infinity') as ends_at,
  f.put_by, f.lifted_at, f.lifted_by,
  f.lifted_at is null and writ.now() >= f.begins_at and writ.now() < f.ends_at as lasts
from writ_data.freeze f
where (select writ.visible_tenant()) in ('', f.tenant_id);
