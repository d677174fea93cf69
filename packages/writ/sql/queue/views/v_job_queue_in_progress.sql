-- How many jobs workers hold, by kind. It starts at the leases and looks up job by job, so it never
-- reads ended jobs, however many there are.
-- Callers: processes, readers
create or replace view writ.v_job_queue_in_progress with (security_barrier) as
select j.job_kind, count(*) as in_progress
from writ_data.job_lease l
cross join lateral unnest(l.job_ids, l.execution_nos) h(job_id, execution_no)
cross join lateral (
  select x.job_kind
  from writ_data.job x
  where x.job_id = h.job_id and (select writ.visible_tenant()) in ('', x.tenant_id)
  offset 0
) j
cross join lateral (
  select not exists (
    select from writ_data.job_execution e
    where e.job_id = h.job_id and e.execution_no = h.execution_no and e.status <> 'COMMITTED'
  ) as open
  offset 0
) o
where o.open
group by j.job_kind;
