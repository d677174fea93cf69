-- Destinations of events, with their state, their relay and their backlog.
-- Callers: processes, readers
create or replace view writ.destination with (security_barrier) as
select
  d.name, d.bus, d.tenant_id, d.types, d.config, d.state, d.note, d.failures, d.failing_since,
  nullif(d.retry_at, '-infinity') as retry_at,
  case when d.held_until > writ.now() then d.holder end as relay,
  (
    select count(*) from writ_data.undelivered u where u.destination = d.name and u.dead_at is null
  ) as undelivered,
  (
    select count(*)
    from writ_data.undelivered u
    where u.destination = d.name and u.dead_at is not null
  ) as dead,
  (
    select b.at
    from writ_data.event_batch b
    where (b.xid, b.batch_id) > (d.xid, d.batch_id)
    order by b.xid, b.batch_id
    limit 1
  ) as behind_since,
  d.xid, d.batch_id, d.put_by, d.put_at, d.moved_at
from writ_data.destination d
where (select writ.visible_tenant()) in ('', d.tenant_id);
