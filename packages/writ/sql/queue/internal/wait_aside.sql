-- Puts jobs that were taken from their lanes, and of which one makes its gate raise, aside: they
-- wait for an hour. A deadline that has passed moves to then, so that nobody meets it before.
create or replace function writ_data.wait_aside(
  p_jobs uuid[],
  p_attempts smallint[],
  p_execution_nos integer[],
  p_until timestamptz,
  p_at timestamptz
) returns void
language plpgsql
set enable_seqscan = off
as $$
begin
  insert into writ_data.job_wait (
    due_at, job_kind, tenant_id, limit_key, priority, job_id, attempts, execution_no,
    deadline_at, reason
  )
  select
    p_until, j.job_kind, j.tenant_id, j.limit_key, j.priority, j.job_id, u.attempts, u.no,
    case when j.deadline_at <= p_at then p_until else j.deadline_at end, 'delay'
  from unnest(p_jobs, p_attempts, p_execution_nos) u(id, attempts, no)
  join writ_data.job j on j.job_id = u.id
  on conflict do nothing;
end $$;
