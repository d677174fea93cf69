-- Takes expired leases back. A committed execution becomes DONE; a started one is charged and retried or dead-lettered; one that was
-- only prefetched goes back to the queue, innocent. A lease that a transaction holds for its commit is left alone until it has ended.
-- Callers: writ_engine
create or replace function writ.fn_job_lease_reaper(p_actor text default 'reaper') returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := writ.now();
  l writ_data.job_lease;
  v_done uuid[]; v_jobs uuid[]; v_counts integer[]; v_leases integer := 0; v_totals integer[] := '{0,0,0,0,0}'; v_positions integer[]; v_n integer;
begin
  if not (writ_data.setting('queue.lease.reaper_enabled'))::boolean then
    return jsonb_build_object('leases', 0);
  end if;
  for l in
    select * from writ_data.job_lease where leased_until < v_now
    order by leased_until limit (writ_data.setting('queue.lease.reaper_batch'))::integer
    for update skip locked
  loop
    v_now := writ.now(); -- after the lock: nothing ends before it began
    v_leases := v_leases + 1;
    with done as (
      update writ_data.job_execution e set status = 'DONE', finished_at = v_now
      where e.job_id = any (l.job_ids) and e.lease_token = l.lease_token and e.status = 'COMMITTED'
      returning e.job_id
    )
    select coalesce(array_agg(job_id), '{}') into v_done from done;
    v_n := cardinality(l.job_ids);
    v_positions := array(select generate_series(1, v_n));
    select jobs, counts into v_jobs, v_counts
    from writ_data.abort(l, v_positions, array_fill('lease_expired'::text, array[v_n]), array_fill('lease_expired'::text, array[v_n]),
      array_fill(format('The worker %s stopped renewing its lease.', l.holder), array[v_n]), v_now);
    delete from writ_data.job_lease where lease_token = l.lease_token;
    if l.limited then
      delete from writ_data.limit_hold where lease_token = l.lease_token;
    end if;
    if cardinality(v_done) > 0 then
      perform writ_data.record('fn_job_lease_reaper', p_actor, v_now, v_done, array['dot.job.succeeded'], array[1], array[cardinality(v_done)]);
    end if;
    if l.stepped then
      perform writ_data.steps_committed(v_done, 'fn_job_lease_reaper', p_actor, v_now) where v_done <> '{}';
      perform writ_data.steps_gone(v_jobs[v_counts[1] + v_counts[2] + 1:], 'fn_job_lease_reaper', p_actor, v_now) where v_counts[3] + v_counts[4] > 0;
    end if;
    perform writ_data.record_abort('fn_job_lease_reaper', p_actor, v_now, v_jobs, v_counts, p_details => jsonb_build_object('code', 'lease_expired'));
    if v_counts[1] > 0 then
      perform writ_data.wake(array_agg(distinct j.job_kind), v_now) from writ_data.job j where j.job_id = any (v_jobs[1:v_counts[1]]);
    end if;
    v_totals := array(select a + b from unnest(v_totals, v_counts || cardinality(v_done)) t(a, b));
  end loop;
  return jsonb_build_object('leases', v_leases, 'queued', v_totals[1], 'retry_waiting', v_totals[2], 'dead_letter', v_totals[3],
    'cancelled', v_totals[4], 'succeeded', v_totals[5]);
end $$;
