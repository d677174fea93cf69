-- Executions as specification 003 describes them. Those that are open are places in a lease; those
-- that have committed or ended are rows.
-- Its union stands inside a query, because PostgreSQL ignores security_barrier on a plain union.
-- Callers: processes, readers
create or replace view writ.job_execution with (security_barrier) as
select x.*
from (
  select
    e.job_id::text || '/' || e.execution_no as exec_id,
    e.job_id,
    e.execution_no,
    e.attempt::integer,
    e.status,
    e.abort_kind,
    e.final,
    e.lease_owner,
    l.leased_until as lease_expires_at,
    e.started_at,
    e.committed_at,
    e.finished_at,
    coalesce(
      e.result_ref, 'sha256:' || encode(sha256(convert_to(e.result::text, 'UTF8')), 'hex')
    ) as result_ref,
    e.error_code,
    e.error_message,
    e.error_stack
  from writ_data.job_execution e
  left join writ_data.job_lease l on l.lease_token = e.lease_token
  where (select writ.visible_tenant()) = '' or exists (
    select from writ_data.job j
    where j.job_id = e.job_id and (select writ.visible_tenant()) in ('', j.tenant_id)
  )
  union all
  select
    h.job_id::text || '/' || h.execution_no,
    h.job_id,
    h.execution_no,
    h.attempts + 1,
    case when h.n <= coalesce(l.start_upto[cardinality(l.start_upto)], 0)
      then 'IN_PROGRESS' else 'LEASED' end,
    null,
    false,
    l.holder,
    l.leased_until,
    case when h.n <= coalesce(l.start_upto[cardinality(l.start_upto)], 0)
      then l.start_at[width_bucket(h.n::integer - 1, l.start_upto) + 1] end,
    null,
    null,
    null,
    null,
    null,
    null
  from writ_data.job_lease l
  cross join lateral unnest(l.job_ids, l.attempts, l.execution_nos) with ordinality
    h(job_id, attempts, execution_no, n)
  where not exists (
      select from writ_data.job_execution e
      where e.job_id = h.job_id and e.execution_no = h.execution_no
    )
    and ((select writ.visible_tenant()) = '' or exists (
      select from writ_data.job j
      where j.job_id = h.job_id and (select writ.visible_tenant()) in ('', j.tenant_id)
    ))
) x;
