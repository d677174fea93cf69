-- Fails an attempt that may be tried again: retry_waiting, or dead_letter when the attempts are
-- used up.
-- Callers: writ_worker, writ_applier
-- Answers, refuses: see writ_data.abort_one.
create or replace function writ.fn_job_fail_transient(
  p_job_id uuid,
  p_lease_token uuid,
  p_error_code text,
  p_error_message text,
  p_actor text
) returns jsonb
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
  select writ_data.audited('fn_job_fail', p_actor, writ_data.abort_one(
    p_job_id, p_lease_token, 'transient', p_error_code, p_error_message, p_actor, true
  ))
$$;
