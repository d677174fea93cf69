-- What has come from outside for runs. Only steps read what it carries.
-- Callers: processes, readers
create or replace view writ.run_deliveries with (security_barrier) as
select d.run_id, r.tenant_id, d.delivery_id, d.event,
  octet_length(d.payload::text) as size_bytes, d.delivered_at, d.delivered_by, d.taken_by
from writ_data.run_delivery d
join writ_data.run r on r.run_id = d.run_id
where (select writ.visible_tenant()) in ('', r.tenant_id);
