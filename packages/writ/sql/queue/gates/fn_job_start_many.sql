-- Marks the jobs of a lease up to a place in it as started. Only started jobs are charged when
-- their worker dies.
-- Callers: writ_worker, writ_applier
-- Answers: {started_upto}.
-- Refuses: invalid_actor, lease_lost, tenant_forbidden.
-- Locks:   the lease, so that commits of its jobs pass.
create or replace function writ.fn_job_start_many(
  p_lease_token uuid,
  p_upto integer,
  p_actor text default null
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant text;                    -- the only one the caller may touch; null: any
  v_lease writ_data.job_lease;
  v_now timestamptz;
  v_before integer;
  v_after integer;
  v_started uuid[];
begin
  if length(p_actor) > 200 then
    return writ_data.refused('fn_job_progress', p_actor, 'invalid_actor');
  end if;
  v_lease := writ_data.lock_lease(p_lease_token, false);
  if v_lease.lease_token is null then
    return writ_data.refused(
      'fn_job_progress', p_actor,
      'lease_lost',
      'The lease is no longer held: it expired and was taken back, or all its jobs have ended.'
    );
  end if;
  v_before := writ_data.started_upto(v_lease);
  -- See job_lease.login.
  if v_lease.login <> session_user or current_setting('writ.tenant', true) <> '' then
    v_tenant := writ_data.caller_tenant();
  end if;
  if v_tenant is not null
    and writ_data.foreign_jobs(v_lease.job_ids[v_before + 1:p_upto], v_tenant)
  then
    return writ_data.refused('fn_job_progress', p_actor, 'tenant_forbidden');
  end if;

  v_now := writ.now();
  select started_upto, started
  into v_after, v_started
  from writ_data.settle_lease(v_lease, false, '{}', 0, p_upto, v_now);
  if v_after > v_before then
    perform writ_data.record(
      'fn_job_progress', coalesce(p_actor, v_lease.holder), v_now, v_started,
      array['dot.job.started'], array[1], array[cardinality(v_started)]
    );
  end if;
  return jsonb_build_object('started_upto', v_after);
end $$;
