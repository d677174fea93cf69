-- The kinds of jobs that have been registered.
-- Callers: processes, readers
create or replace view writ.job_kind as
select
  job_kind, event_domain, executor, source_system, max_attempts, backoff_base_s, backoff_cap_s,
  timeout_s, limit_concurrency, limit_rate, limit_burst, registered_by, registered_at, paused_at,
  paused_by
from writ_data.job_kind;
