-- What an applier has read last outside the database for contracts, or why it could not.
-- Callers: writ_principal, processes, readers
create or replace view writ.contract_value with (security_barrier) as
select
  v.contract_id, c.tenant_id, v.slot, v.value, v.code, v.detail, v.job_id,
  v.login::text as read_by, v.read_at
from writ_data.contract_value v
join writ_data.contract c on c.contract_id = v.contract_id
where (select writ.visible_tenant()) in ('', c.tenant_id);
