-- The newest snapshot of each run that the projector has made. stale: the next event is missing,
-- and the snapshot waits for it.
-- Callers: processes, readers
create or replace view writ.run_snapshots with (security_barrier) as
select
  s.run_id, r.tenant_id,
  s.last_seq as last_event_seq,
  s.status, s.snapshot,
  s.missing is not null as stale,
  s.missing as missing_seq,
  s.updated_at
from writ_data.run_snapshot s
join writ_data.run r on r.run_id = s.run_id
where (select writ.visible_tenant()) in ('', r.tenant_id);
