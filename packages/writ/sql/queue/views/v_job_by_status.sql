-- Jobs in a status that few of many are in, found where such jobs stand: in lanes, in waiting, in
-- leases, and by the index of dead letters. A caller names the status as a constant, so that
-- PostgreSQL reads that place alone. Jobs that are cancelled have no index; name a range of ids.
-- Callers: processes, readers
create or replace view writ.v_job_by_status with (security_barrier) as
select x.job_id, x.tenant_id, x.job_kind, x.status
from (
  select u.job_id, l.tenant_id, l.job_kind, 'queued' as status
  from writ_data.job_ready r
  join writ_data.lane l on l.lane_id = r.lane_id
  cross join lateral unnest(r.job_ids) u(job_id)
  union all
  select w.job_id, w.tenant_id, w.job_kind, 'queued'
  from writ_data.job_wait w
  where w.reason = 'delay'
  union all
  select w.job_id, w.tenant_id, w.job_kind, 'retry_waiting'
  from writ_data.job_wait w
  where w.reason = 'retry'
  union all
  select h.job_id, j.tenant_id, j.job_kind,
    case when h.n <= coalesce(l.start_upto[cardinality(l.start_upto)], 0)
      then 'in_progress' else 'leased' end
  from writ_data.job_lease l
  cross join lateral unnest(l.job_ids, l.execution_nos) with ordinality h(job_id, execution_no, n)
  cross join lateral (
    select x.tenant_id, x.job_kind from writ_data.job x where x.job_id = h.job_id offset 0
  ) j
  where not exists (
    select from writ_data.job_execution e
    where e.job_id = h.job_id and e.execution_no = h.execution_no and e.status <> 'COMMITTED'
  )
  union all
  select e.job_id, j.tenant_id, j.job_kind, 'dead_letter'
  from writ_data.job_execution e
  cross join lateral (
    select x.tenant_id, x.job_kind from writ_data.job x where x.job_id = e.job_id offset 0
  ) j
  where e.final and e.abort_kind <> 'cancelled'
    and not exists (select from writ_data.job_cleaned c where c.job_id = e.job_id)
  union all
  select e.job_id, j.tenant_id, j.job_kind, 'cancelled'
  from writ_data.job_execution e
  cross join lateral (
    select x.tenant_id, x.job_kind from writ_data.job x where x.job_id = e.job_id offset 0
  ) j
  where e.final and e.abort_kind = 'cancelled'
    and not exists (select from writ_data.job_cleaned c where c.job_id = e.job_id)
) x
-- COALESCE, because the planner takes a bare IN for something that few rows pass, and then reads
-- all.
where coalesce((select writ.visible_tenant()) in ('', x.tenant_id), false);
