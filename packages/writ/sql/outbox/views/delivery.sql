-- What was sent where, when, and what was answered.
-- Callers: processes, readers
create or replace view writ.delivery as
select l.delivery_id, l.destination, l.event_id, l.attempt, l.at, l.ms, l.ok, l.status, l.reason, d.tenant_id from writ_data.delivery l left join writ_data.destination d on d.name = l.destination
where (select writ.visible_tenant()) in ('', d.tenant_id);
