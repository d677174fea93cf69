-- The four states of specification 003, from executions alone.
-- Callers: processes, readers
create or replace view writ.v_job_state with (security_barrier) as
select j.job_id, j.tenant_id, case
    when bool_or(e.final) then 'FAILED'
    when bool_or(e.status = 'DONE') then 'SUCCEEDED'
    when bool_or(e.status in ('LEASED', 'IN_PROGRESS', 'COMMITTED')) then 'RUNNING'
    else 'PENDING'
  end as state, coalesce(max(e.attempt), 0) as attempt, j.enqueued_at as created_at,
  coalesce(max(greatest(e.started_at, e.committed_at, e.finished_at)), j.enqueued_at) as updated_at
from writ_data.job j left join writ.job_execution e on e.job_id = j.job_id
where (select writ.visible_tenant()) in ('', j.tenant_id)
group by j.job_id;
