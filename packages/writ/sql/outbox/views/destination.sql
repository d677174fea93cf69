-- Places outside that are told of events, and how they are. xid and batch_id are the position:
-- every fact up to there has been given to the destination, or is undelivered.
-- Callers: processes, readers
create or replace view writ.destination with (security_barrier) as
select
  d.name, d.bus, d.tenant_id, d.types, d.config, d.state, d.note, d.failures, d.failing_since,
  nullif(d.retry_at, '-infinity') as retry_at,
  case when d.held_until > writ.now() then d.holder end as relay,
  (select count(*) from writ_data.undelivered u where u.destination = d.name and u.dead_at is null)
    as undelivered,
  (
    select count(*) from writ_data.undelivered u
    where u.destination = d.name and u.dead_at is not null
  ) as dead,
  -- As writ_data.record_after, which a caller of this view may not call.
  coalesce(
    (
      select b.at from writ_data.event_batch b
      where (b.xid, b.batch_id) > ((d.position).xid, (d.position).fact)
        and b.batch_id > (d.position).era and b.batch_id <= e.until
      order by b.xid, b.batch_id
      limit 1
    ),
    (
      select b.at from writ_data.event_batch b
      where b.batch_id > e.until
      order by b.batch_id
      limit 1
    )
  ) as behind_since,
  (d.position).xid as xid, (d.position).fact as batch_id, d.put_by, d.put_at, d.moved_at
from writ_data.destination d
cross join lateral (
  select coalesce(
    (
      select r.era from writ_data.record_era r
      where r.era > (d.position).era
      order by r.era
      limit 1
    ),
    'ffffffff-ffff-ffff-ffff-ffffffffffff'
  ) as until
) e
where (select writ.visible_tenant()) in ('', d.tenant_id);
