-- Gives back every job that a lease still holds, without charging an attempt. A worker that never
-- got the answer to its claim calls it.
-- Callers: writ_worker, writ_applier
-- Answers: {queued, retry_waiting, dead_letter, cancelled, started_upto}.
-- Refuses: lease_lost, invalid_actor, tenant_forbidden.
create or replace function writ.fn_lease_release(
  p_lease_token uuid,
  p_actor text default null
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_jobs integer := (
    select cardinality(job_ids) from writ_data.job_lease where lease_token = p_lease_token
  );
  v_nothing text[];
  v_answer jsonb;
begin
  if v_jobs is null then
    return writ_data.refused('fn_lease_release', p_actor, 'lease_lost');
  end if;
  v_nothing := array_fill(null::text, array[v_jobs]);
  v_answer := writ.fn_job_abort_many(
    p_lease_token, array(select generate_series(1, v_jobs)),
    array_fill('released'::text, array[v_jobs]), v_nothing, v_nothing, 0, p_actor
  );
  return case when v_answer ? 'reason' then v_answer else v_answer - 'refused' end;
end $$;
