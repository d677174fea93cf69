-- Jobs that were emitted together. The status follows from the jobs: active while one is open; then
-- succeeded when all have, failed when a job is a dead letter and none succeeded, partially_failed
-- when some did, cancelled when jobs were cancelled and none failed. A dead letter that was
-- replayed is judged by its successor.
-- Callers: processes, readers
create or replace view writ.job_workflow with (security_barrier) as
select
  w.workflow_id, w.tenant_id, w.workflow_kind, w.generator,
  case
    when s.open > 0 or s.jobs = 0 then 'active'
    when s.dead > 0 then case when s.succeeded > 0 then 'partially_failed' else 'failed' end
    when s.cancelled > 0 then 'cancelled'
    else 'succeeded'
  end as status,
  w.correlation_id, w.enqueued_by, w.enqueued_at,
  case when s.open = 0 then s.finished_at end as finished_at,
  w.workflow_key, s.jobs, s.open, s.succeeded, s.dead, s.cancelled
from writ_data.job_workflow w
cross join lateral (
  select
    count(*) as jobs,
    count(*) filter (where e.job_id is null) as open,
    count(*) filter (where e.status = 'DONE') as succeeded,
    count(*) filter (where e.abort_kind <> 'cancelled') as dead,
    count(*) filter (where e.abort_kind = 'cancelled') as cancelled,
    max(e.finished_at) as finished_at
  from writ_data.job j
  left join lateral (
    select x.job_id, x.status, x.abort_kind, x.finished_at
    from writ_data.job_execution x
    where x.job_id = j.job_id
      and (x.status in ('COMMITTED', 'DONE') or x.final) and x.status <> 'COMMITTED'
    limit 1
  ) e on true
  where j.workflow_id = w.workflow_id
    and not exists (
      select from writ_data.job_cleaned c
      where c.job_id = j.job_id and c.successor_job_id is not null
    )
) s
where (select writ.visible_tenant()) in ('', w.tenant_id);
