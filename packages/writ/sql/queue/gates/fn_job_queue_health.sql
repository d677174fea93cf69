-- The figures of specification 002 §8, of these kinds or of all, and how many workers are heard.
-- Callers: processes, readers
create or replace function writ.fn_job_queue_health(p_kinds text[] default null) returns jsonb
  language sql security definer set search_path = pg_catalog, pg_temp as $$
  select jsonb_build_object(
    'backlog', (select coalesce(sum(cardinality(r.job_ids)), 0) from writ_data.job_ready r
      where p_kinds is null or r.lane_id in (select lane_id from writ_data.lane where job_kind = any (p_kinds))),
    'waiting', (select count(*) from writ_data.job_wait where p_kinds is null or job_kind = any (p_kinds)),
    'in_progress', case when p_kinds is null then (select coalesce(sum(open_jobs), 0) from writ_data.job_lease) else
      (select count(*) from writ_data.job_lease l cross join lateral unnest(l.job_ids, l.execution_nos) u(id, no) join writ_data.job j on j.job_id = u.id
        where j.job_kind = any (p_kinds)
          and not exists (select from writ_data.job_execution e where e.job_id = u.id and e.execution_no = u.no and e.status <> 'COMMITTED')) end,
    'dead_letter_open', (select count(*) from writ_data.job_execution e where e.final and e.abort_kind <> 'cancelled'
      and not exists (select from writ_data.job_cleaned c where c.job_id = e.job_id)
      and (p_kinds is null or exists (select from writ_data.job j where j.job_id = e.job_id and j.job_kind = any (p_kinds)))),
    'oldest_queued_age_s', (select round(extract(epoch from writ.now() - min(j.process_after))::numeric, 3)
      from (select f.job_ids[1] as job_id from writ_data.lane l cross join lateral (select r.job_ids from writ_data.job_ready r
          where r.lane_id = l.lane_id and r.seq >= l.head order by r.seq, r.part limit 1) f where p_kinds is null or l.job_kind = any (p_kinds) limit 1000) r
      join writ_data.job j using (job_id)),
    'lease_active', (select count(*) from writ_data.job_lease),
    'lease_expired', (select count(*) from writ_data.job_lease where leased_until < writ.now()),
    'workers', (select count(*) from writ_data.queue_worker where last_beat_at >
      writ.now() - (writ_data.setting('queue.heartbeat.stale_threshold_seconds'))::double precision * interval '1 second'),
    'enabled', writ_data.setting('queue.job_substrate.enabled'))
$$;
