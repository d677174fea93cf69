-- Workers, the login of each, and how long ago they were heard.
-- Callers: processes, readers
create or replace view writ.v_queue_heartbeat as
select
  w.executor_id, w.executor_kind, w.domain_scope, w.kinds, w.last_beat_at,
  w.expected_cadence_seconds, w.details, w.idle_until,
  case
    when w.last_beat_at < writ.now() - 2 * t.s * interval '1 second' then 'stale'
    when w.last_beat_at < writ.now() - t.s * interval '1 second' then 'warning'
    else 'fresh'
  end as freshness,
  w.login::text as login
from writ_data.queue_worker w
cross join (
  select value::double precision as s
  from writ_data.dot_config
  where key = 'queue.heartbeat.stale_threshold_seconds'
) t;
