-- Gives a job back without charging an attempt. A worker that shuts down calls it.
-- Callers: writ_worker, writ_applier
-- Answers, refuses: see writ_data.abort_one.
create or replace function writ.fn_job_release(
  p_job_id uuid,
  p_lease_token uuid,
  p_actor text
) returns jsonb
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
  select writ_data.audited('fn_job_release', p_actor, writ_data.abort_one(
    p_job_id, p_lease_token, 'released', null, null, p_actor, true
  ))
$$;
