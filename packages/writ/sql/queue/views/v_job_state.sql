-- The four states of specification 003. Those of a job that has executions follow from these alone;
-- of any other job it counts whether it stands in its lane or waits. The state is null for a job
-- that stands nowhere, as its status in writ.job_queue is.
-- Callers: processes, readers
create or replace view writ.v_job_state with (security_barrier) as
select
  j.job_id,
  j.tenant_id,
  case
    when bool_or(e.final) then 'FAILED'
    when bool_or(e.status = 'DONE') then 'SUCCEEDED'
    when bool_or(e.status in ('LEASED', 'IN_PROGRESS', 'COMMITTED')) then 'RUNNING'
    when exists (select from writ_data.job_wait w where w.job_id = j.job_id)
      or exists (
        select from writ_data.job_ready r where r.moved and r.job_ids[1] = j.job_id
      )
      or exists (
        select from writ_data.lane l
        join writ_data.job_ready r on r.lane_id = l.lane_id and r.seq = j.ready_seq
        where l.job_kind = j.job_kind and l.tenant_id = j.tenant_id
          and l.limit_key = coalesce(j.limit_key, '') and l.priority = j.priority
          and not r.moved and j.job_id = any (r.job_ids)
      )
      then 'PENDING'
  end as state,
  coalesce(max(e.attempt), 0) as attempt,
  j.enqueued_at as created_at,
  coalesce(
    max(greatest(e.started_at, e.committed_at, e.finished_at)), j.enqueued_at
  ) as updated_at
from writ_data.job j
left join writ.job_execution e on e.job_id = j.job_id
where (select writ.visible_tenant()) in ('', j.tenant_id)
group by j.job_id;
