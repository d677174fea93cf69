-- Weights of tenants that differ from 1.
-- Callers: processes, readers
create or replace view writ.tenant_weight with (security_barrier) as
select * from writ_data.tenant_weight
where (select writ.visible_tenant()) in ('', tenant_id);
