-- Marks the jobs of a lease up to a place in it as started. Only started jobs are charged when their worker dies.
-- Callers: writ_worker, writ_applier
create or replace function writ.fn_job_start_many(p_lease_token uuid, p_upto integer, p_actor text default null) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz;
  l writ_data.job_lease;
  v_before integer; v_after integer; v_started uuid[];
begin
  l := writ_data.lock_lease(p_lease_token, false);
  if l.lease_token is null then
    return writ_data.refusal('lease_lost', 'The lease is no longer held: it expired and was taken back, or all its jobs have ended.');
  end if;
  v_now := writ.now();
  v_before := writ_data.started_upto(l);
  select started_upto, started into v_after, v_started from writ_data.settle_lease(l, false, '{}', 0, p_upto, v_now);
  if v_after > v_before then
    perform writ_data.record('fn_job_progress', coalesce(p_actor, l.holder), v_now, v_started,
      array['dot.job.started'], array[1], array[cardinality(v_started)]);
  end if;
  return jsonb_build_object('started_upto', v_after);
end $$;
