-- The figures of fn_job_queue_health() as one row.
-- Callers: processes, readers
create or replace view writ.v_queue_health as
select
  (h.figures ->> 'backlog')::bigint as backlog,
  (h.figures ->> 'waiting')::bigint as waiting,
  (h.figures ->> 'in_progress')::bigint as in_progress,
  (h.figures ->> 'dead_letter_open')::bigint as dead_letter_open,
  (h.figures ->> 'oldest_queued_age_s')::numeric as oldest_queued_age_s,
  (h.figures ->> 'lease_active')::bigint as lease_active,
  (h.figures ->> 'lease_expired')::bigint as lease_expired,
  (h.figures ->> 'workers')::bigint as workers,
  (h.figures ->> 'enabled')::boolean as enabled
from writ.queue_figures() h(figures);
