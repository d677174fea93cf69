-- Enqueues N jobs. p_jobs is an array of objects:
--   id (UUIDv7, fixed by the caller so that a repeated call is recognised), kind, key, tenant,
--   input, safe_payload, priority, delay_ms or process_after, deadline_ms or deadline_at,
--   max_attempts, executor, source_ref, target_ref, payload_ref, payload_classification,
--   correlation_id, causation_event_id, parent_job_id, workflow_id, source_system, limit_key,
--   traceparent (its place in a trace, of W3C Trace Context, version 00).
-- Callers: writ_producer, writ_server
-- Answers, refuses and locks: see writ_data.enqueue_jobs.
create or replace function writ.fn_job_enqueue_many(
  p_jobs jsonb,
  p_actor text,
  p_tenant_id text default 'default',
  p_atomic boolean default false
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return writ_data.audited('fn_job_enqueue', p_actor, writ_data.enqueue_jobs(
    p_jobs, p_actor, p_tenant_id, coalesce(p_atomic, false), true
  ));
end $$;
