-- Reads the figures of specification 002 §8, for these kinds or for all, and the number of live
-- workers.
-- Callers: processes, readers
-- Answers: {backlog, waiting, in_progress, dead_letter_open, oldest_queued_age_s, lease_active,
--          lease_expired, workers, enabled}. A login of one tenant gets the figures of its jobs and
--          of leases that hold one of them.
-- Refuses: batch_too_large.
-- Locks:   none.
--
-- Stable, so that all figures come from one snapshot. With a snapshot per statement, a job that a
-- worker claims between two of them is in none of the figures, and a busy queue looks idle.
create or replace function writ.fn_job_queue_health(p_kinds text[] default null) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  v_tenant text := writ_data.caller_tenant();
  v_heard_since timestamptz := v_now - interval '1 second'
    * (writ_data.setting('queue.heartbeat.stale_threshold_seconds'))::double precision;
  v_all boolean := p_kinds is null and v_tenant is null;
  v_in_progress bigint;
  v_leases bigint;
  v_expired bigint;
begin
  if cardinality(p_kinds) > 1000 then
    return writ_data.refusal('batch_too_large', 'A call names at most 1,000 kinds.');
  end if;

  if v_all then
    select coalesce(sum(open_jobs), 0) into v_in_progress from writ_data.job_lease;
  else
    select count(*) into v_in_progress
    from writ_data.job_lease l
    cross join lateral unnest(l.job_ids, l.execution_nos) u(id, no)
    join writ_data.job j on j.job_id = u.id
    where (p_kinds is null or j.job_kind = any (p_kinds))
      and (v_tenant is null or j.tenant_id = v_tenant)
      and not exists (
        select from writ_data.job_execution e
        where e.job_id = u.id and e.execution_no = u.no and e.status <> 'COMMITTED'
      );
  end if;
  select count(*), count(*) filter (where l.leased_until < v_now)
  into v_leases, v_expired
  from writ_data.job_lease l
  where v_tenant is null or exists (
    select from writ_data.job j where j.job_id = any (l.job_ids) and j.tenant_id = v_tenant
  );

  return jsonb_build_object(
    'backlog', (
      select coalesce(sum(cardinality(r.job_ids)), 0)
      from writ_data.job_ready r
      where v_all or r.lane_id in (
        select l.lane_id from writ_data.lane l
        where (p_kinds is null or l.job_kind = any (p_kinds))
          and (v_tenant is null or l.tenant_id = v_tenant)
      )
    ),
    'waiting', (
      select count(*) from writ_data.job_wait w
      where (p_kinds is null or w.job_kind = any (p_kinds))
        and (v_tenant is null or w.tenant_id = v_tenant)
    ),
    'in_progress', v_in_progress,
    'dead_letter_open', (
      select count(*) from writ_data.job_execution e
      where e.final and e.abort_kind <> 'cancelled'
        and not exists (select from writ_data.job_cleaned c where c.job_id = e.job_id)
        and (v_all or exists (
          select from writ_data.job j
          where j.job_id = e.job_id and (p_kinds is null or j.job_kind = any (p_kinds))
            and (v_tenant is null or j.tenant_id = v_tenant)
        ))
    ),
    'oldest_queued_age_s', (
      select round(extract(epoch from v_now - min(j.process_after))::numeric, 3)
      from (
        select f.job_ids[1] as job_id
        from writ_data.lane l
        cross join lateral (
          select r.job_ids from writ_data.job_ready r
          where r.lane_id = l.lane_id and r.seq >= l.head
          order by r.seq, r.part
          limit 1
        ) f
        where (p_kinds is null or l.job_kind = any (p_kinds))
          and (v_tenant is null or l.tenant_id = v_tenant)
        limit 1000
      ) r
      join writ_data.job j using (job_id)
    ),
    'lease_active', v_leases,
    'lease_expired', v_expired,
    'workers', (
      select count(*) from writ_data.queue_worker where last_beat_at > v_heard_since
    ),
    'enabled', writ_data.setting('queue.job_substrate.enabled')
  );
end $$;
