-- The last request of each contract and step type to read values outside the database. open: no
-- applier has answered yet (as writ_data.read_is_open, which readers may not call).
-- Callers: writ_principal, processes, readers
create or replace view writ.contract_read with (security_barrier) as
select
  r.contract_id, c.tenant_id, r.step_type, r.job_id, r.requested_by, r.requested_at, r.due_at,
  exists (select from writ_data.job j where j.job_id = r.job_id)
    and not exists (
      select from writ_data.job_execution e
      where e.job_id = r.job_id and (e.status in ('COMMITTED', 'DONE') or e.final)
    ) as open
from writ_data.contract_read r
join writ_data.contract c on c.contract_id = r.contract_id
where (select writ.visible_tenant()) in ('', c.tenant_id);
