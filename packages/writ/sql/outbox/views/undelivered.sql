-- Events that a destination has not accepted yet, those that wait behind them, and dead letters.
-- Callers: processes, readers
create or replace view writ.undelivered with (security_barrier) as
select
  u.destination, u.event_id, u.stream, u.run_seq, u.attempts, u.due_at, u.dead_at, u.status,
  u.reason, d.tenant_id
from writ_data.undelivered u
join writ_data.destination d on d.name = u.destination
where (select writ.visible_tenant()) in ('', d.tenant_id);
