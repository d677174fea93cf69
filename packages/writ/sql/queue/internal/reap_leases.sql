-- Takes expired leases back, queue.lease.reaper_batch at most, and about 5,000 jobs or half a
-- second at most: a login may have a statement_timeout, and a call that is cancelled does nothing.
-- A committed execution becomes DONE; a started one is charged and retried or dead-lettered; one
-- that was only prefetched goes back to the queue uncharged.
-- Answers: {leases, queued, retry_waiting, dead_letter, cancelled, succeeded}, and `more` if there
--          may be more to take back at once.
-- Locks:   the leases. One that a transaction holds for its commit is left alone until that has
--          ended.
-- A job that makes it raise stays in its lease, which is set aside for an hour; the others of the
-- lease are taken back.
create or replace function writ_data.reap_leases(p_actor text) returns jsonb
language plpgsql
set enable_seqscan = off
as $$
declare
  v_slice constant integer := 500;  -- jobs that are taken back together
  v_most constant integer := 5000;
  v_batch integer := (writ_data.setting('queue.lease.reaper_batch'))::integer;
  v_began timestamptz := clock_timestamp();
  v_now timestamptz := writ.now();
  v_lease writ_data.job_lease;
  v_open integer[];                 -- positions in it that have not ended
  v_done integer[];                 -- of these, those that are taken back now
  v_stuck integer[];                -- and those that raised
  v_position integer;
  v_aside boolean;                  -- for a reason that the next tick would meet again
  v_leases integer := 0;
  v_jobs integer := 0;
  v_counts integer[];               -- of one call: queued, retry, dead, cancelled, succeeded
  v_totals integer[] := '{0,0,0,0,0}'::integer[];
  v_over boolean := false;          -- what is left is for the next call
begin
  if not (writ_data.setting('queue.lease.reaper_enabled'))::boolean then
    return jsonb_build_object('leases', 0);
  end if;

  for v_lease in
    select * from writ_data.job_lease
    where leased_until < v_now
    order by leased_until
    limit v_batch
    for update skip locked
  loop
    v_now := writ.now();            -- after the lock: nothing ends before it began
    v_leases := v_leases + 1;
    v_done := '{}';
    v_stuck := '{}';
    v_aside := false;
    v_open := array(
      select u.p::integer
      from unnest(v_lease.job_ids, v_lease.execution_nos) with ordinality u(id, no, p)
      where not exists (
        select from writ_data.job_execution e
        where e.job_id = u.id and e.execution_no = u.no and e.status <> 'COMMITTED'
      )
      order by u.p
    );

    while v_open <> '{}' and not v_over loop
      begin
        v_counts := writ_data.reap(v_lease, v_open[:v_slice], p_actor, v_now);
        v_totals := array(select a + b from unnest(v_totals, v_counts) t(a, b));
        v_done := v_done || v_open[:v_slice];
      exception when others then
        foreach v_position in array v_open[:v_slice] loop
          begin
            v_counts := writ_data.reap(v_lease, array[v_position], p_actor, v_now);
            v_totals := array(select a + b from unnest(v_totals, v_counts) t(a, b));
            v_done := v_done || v_position;
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
      v_jobs := v_jobs + least(cardinality(v_open), v_slice);
      v_open := v_open[v_slice + 1:];
      -- A slice at least: a slow machine gets on, too.
      v_over := v_jobs >= v_most
        or v_jobs >= v_slice and clock_timestamp() > v_began + interval '500 ms';
    end loop;

    if v_open <> '{}' then
      -- The next call goes on with it. Its counts are right, should its worker come back first.
      perform writ_data.settle_lease(
        v_lease, false, array(select v_lease.job_ids[p] from unnest(v_done) p),
        (select count(*) from unnest(v_done) p where p > writ_data.started_upto(v_lease))::integer,
        0, v_now
      );
    elsif v_stuck = '{}' then
      delete from writ_data.job_lease where lease_token = v_lease.lease_token;
      if v_lease.limited then
        delete from writ_data.limit_hold where lease_token = v_lease.lease_token;
      end if;
    elsif v_aside then
      update writ_data.job_lease
      set leased_until = v_now + interval '1 hour'
      where lease_token = v_lease.lease_token;
    end if;
    exit when v_over;
  end loop;

  return jsonb_strip_nulls(jsonb_build_object(
    'leases', v_leases, 'queued', v_totals[1], 'retry_waiting', v_totals[2],
    'dead_letter', v_totals[3], 'cancelled', v_totals[4], 'succeeded', v_totals[5],
    'more', case when v_over or v_leases >= v_batch then true end
  ));
end $$;
