-- Reads the figures that src/telemetry/metrics.ts observes.
-- Callers: processes, readers
-- Answers: {name: [[value, kind or status or destination or severity or state], ...]}. Where there
--          is nothing the value is 0, so that a figure that falls to nothing is seen.
-- Refuses: tenant_forbidden, because the figures are of all tenants.
-- Locks:   none.
--
-- It costs what waits, runs and is undelivered, and a look at every governor; not what has ended.
create or replace function writ.fn_metrics() returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
  v_now timestamptz := writ.now();
begin
  if writ_data.caller_tenant() is not null then
    return writ_data.refusal('tenant_forbidden', 'Metrics are of all tenants.');
  end if;

  return jsonb_build_object(
    'writ.queue.ready', (
      select jsonb_agg(jsonb_build_array(coalesce(b.jobs, 0), k.job_kind))
      from writ_data.job_kind k
      left join (
        select l.job_kind, sum(r.jobs) as jobs
        from (
          select x.lane_id, sum(cardinality(x.job_ids)) as jobs
          from writ_data.job_ready x
          group by x.lane_id
        ) r
        join writ_data.lane l using (lane_id)
        group by l.job_kind
      ) b using (job_kind)
    ),
    'writ.queue.waiting', (
      select jsonb_agg(jsonb_build_array(coalesce(w.jobs, 0), k.job_kind))
      from writ_data.job_kind k
      left join (
        select x.job_kind, count(*) as jobs from writ_data.job_wait x group by x.job_kind
      ) w using (job_kind)
    ),
    'writ.queue.in_progress', jsonb_build_array(jsonb_build_array((
      select coalesce(sum(l.open_jobs), 0) from writ_data.job_lease l
    ))),
    'writ.queue.oldest_ready', jsonb_build_array(jsonb_build_array((
      select coalesce(greatest(extract(epoch from v_now - min(j.process_after)), 0), 0)
      from (
        select f.job_ids[1] as job_id
        from writ_data.lane l
        cross join lateral (
          select r.job_ids
          from writ_data.job_ready r
          where r.lane_id = l.lane_id and r.seq >= l.head
          order by r.seq, r.part
          limit 1
        ) f
        limit 1000
      ) r
      join writ_data.job j using (job_id)
    ))),
    'writ.queue.dead_letters', jsonb_build_array(jsonb_build_array((
      select count(*)
      from writ_data.job_execution e
      where e.final and e.abort_kind <> 'cancelled'
        and not exists (select from writ_data.job_cleaned c where c.job_id = e.job_id)
    ))),
    'writ.queue.workers', jsonb_build_array(jsonb_build_array((
      select count(*)
      from writ_data.queue_worker w
      where w.last_beat_at > v_now
        - (writ_data.setting('queue.heartbeat.stale_threshold_seconds'))::double precision
        * interval '1 second'
    ))),
    'writ.runs.open', jsonb_build_array(
      jsonb_build_array((
        select count(*) from writ_data.run r where r.status = 'PENDING' and r.engine = 'native'
      ), 'PENDING'),
      jsonb_build_array((
        select count(*) from writ_data.run r
        where r.status in ('RUNNING', 'PAUSED') and r.status = 'RUNNING'
      ), 'RUNNING'),
      jsonb_build_array((
        select count(*) from writ_data.run r where r.status = 'PAUSED'
      ), 'PAUSED')
    ),
    'writ.outbox.lag', (
      select jsonb_agg(jsonb_build_array(
        coalesce(greatest(extract(epoch from v_now - d.behind_since), 0), 0), d.name
      ))
      from writ.destination d
    ),
    'writ.outbox.undelivered', (
      select jsonb_agg(jsonb_build_array(d.undelivered, d.name)) from writ.destination d
    ),
    'writ.outbox.dead_letters', (
      select jsonb_agg(jsonb_build_array(d.dead, d.name)) from writ.destination d
    ),
    'writ.alerts.open', (
      select jsonb_agg(jsonb_build_array((
        select count(*) from writ_data.alert a
        where a.cleared_at is null and a.severity = s.severity
      ), s.severity))
      from unnest(array['P1', 'P2', 'P3']) s(severity)
    ),
    'writ.governors', (
      select jsonb_agg(jsonb_build_array(coalesce(g.n, 0), s.state))
      from unnest(
        array['boot', 'stable', 'warning', 'intervening', 'refusing', 'degraded']
      ) s(state)
      left join (
        select coalesce(x.state, 'boot') as state, count(*) as n
        from writ_data.governor x
        group by 1
      ) g using (state)
    ),
    'writ.governor.mailbox', jsonb_build_array(jsonb_build_array((
      select coalesce(sum(b.mails - g.mail_done), 0)
      from writ_data.governor g
      join writ_data.governor_inbox b using (governor_id)
    ))),
    'writ.ledger.checkpoint_age', (
      select jsonb_build_array(jsonb_build_array(
        greatest(extract(epoch from v_now - c.at), 0)
      ))
      from writ_data.ledger_checkpoint c
      where c.log_id = '_system'
      order by c.checkpoint_no desc
      limit 1
    )
  );
end $$;
