-- Marks a job COMMITTED inside the transaction that applies its effect, so that effect and mark
-- stand or fall together. Jobs of reserved kinds commit through gates of their own.
-- Callers: writ_worker, writ_applier
-- Answers, raises and locks: see writ_data.commit_job.
create or replace function writ.fn_job_commit(
  p_job_id uuid,
  p_lease_token uuid,
  p_actor text default null
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return writ_data.commit_job(p_job_id, p_lease_token, p_actor);
end $$;
