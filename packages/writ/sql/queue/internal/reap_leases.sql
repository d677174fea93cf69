-- Takes expired leases back, queue.lease.reaper_batch at most. A committed execution becomes DONE;
-- a started one is charged and retried or dead-lettered; one that was only prefetched goes back to
-- the queue uncharged.
-- Answers: {leases, queued, retry_waiting, dead_letter, cancelled, succeeded}.
-- Locks:   the leases. One that a transaction holds for its commit is left alone until that has
--          ended.
-- A job that makes it raise stays in its lease, which is set aside for an hour; the others of the
-- lease are taken back.
create or replace function writ_data.reap_leases(p_actor text) returns jsonb
language plpgsql
as $$
declare
  v_lease writ_data.job_lease;
  v_now timestamptz := writ.now();
  v_leases integer := 0;
  v_counts integer[];               -- of one call: queued, retry, dead, cancelled, succeeded
  v_totals integer[] := '{0,0,0,0,0}'::integer[];
  v_stuck integer[];                -- positions that raised
  v_aside boolean;                  -- for a reason that the next tick would meet again
begin
  if not (writ_data.setting('queue.lease.reaper_enabled'))::boolean then
    return jsonb_build_object('leases', 0);
  end if;

  for v_lease in
    select * from writ_data.job_lease
    where leased_until < v_now
    order by leased_until
    limit (writ_data.setting('queue.lease.reaper_batch'))::integer
    for update skip locked
  loop
    v_now := writ.now();            -- after the lock: nothing ends before it began
    v_leases := v_leases + 1;
    v_stuck := '{}';
    v_aside := false;
    begin
      v_counts := writ_data.reap(
        v_lease, array(select generate_series(1, cardinality(v_lease.job_ids))), p_actor, v_now
      );
      v_totals := array(select a + b from unnest(v_totals, v_counts) t(a, b));
    exception when others then
      for v_position in 1 .. cardinality(v_lease.job_ids) loop
        begin
          v_counts := writ_data.reap(v_lease, array[v_position], p_actor, v_now);
          v_totals := array(select a + b from unnest(v_totals, v_counts) t(a, b));
        exception when others then
          v_stuck := v_stuck || v_position;
          v_aside := writ_data.set_aside(
            'job/' || v_lease.job_ids[v_position],
            (select tenant_id from writ_data.job where job_id = v_lease.job_ids[v_position]),
            sqlstate, sqlerrm, p_actor, v_now
          ) or v_aside;
        end;
      end loop;
    end;

    if v_stuck = '{}' then
      delete from writ_data.job_lease where lease_token = v_lease.lease_token;
      if v_lease.limited then
        delete from writ_data.limit_hold where lease_token = v_lease.lease_token;
      end if;
    elsif v_aside then
      update writ_data.job_lease
      set leased_until = v_now + interval '1 hour'
      where lease_token = v_lease.lease_token;
    end if;
  end loop;

  return jsonb_build_object(
    'leases', v_leases, 'queued', v_totals[1], 'retry_waiting', v_totals[2],
    'dead_letter', v_totals[3], 'cancelled', v_totals[4], 'succeeded', v_totals[5]
  );
end $$;
