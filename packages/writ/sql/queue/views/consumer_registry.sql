-- Which job follows from which fact, and how far each consumer is: every fact up to (position_xid,
-- position_event_id) is behind it. `refused` says why the queue takes none of its jobs; the
-- consumer waits, and nothing is lost.
-- Callers: processes, readers
create or replace view writ.consumer_registry as
select
  c.consumer, c.event_type, c.subject_kind, c.subject_domain, c.job_kind, c.priority, c.delay_ms,
  c.max_attempts, c.registered_by, c.registered_at,
  (p.position).xid as position_xid, (p.position).fact as position_event_id, p.moved_at, p.refused
from writ_data.consumer_registry c
join writ_data.consumer_position p on p.consumer = c.consumer;
