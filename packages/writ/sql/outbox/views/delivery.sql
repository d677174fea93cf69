-- What was sent where, when, and what was answered.
-- Callers: processes, readers
create or replace view writ.delivery with (security_barrier) as
select l.delivery_id, l.destination, l.event_id, l.attempt, l.at, l.ms, l.ok, l.status, l.reason,
  l.tenant_id
from writ_data.delivery l
-- COALESCE, because the planner takes a bare IN for something that few rows pass, and then reads
-- all.
where coalesce((select writ.visible_tenant()) in ('', l.tenant_id), false)
-- A barrier keeps the order and the limit of those who ask for the newest from the tables.
order by l.delivery_id desc;
