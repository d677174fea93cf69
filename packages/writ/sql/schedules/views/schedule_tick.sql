-- Which tick of a schedule became which job, and who fired it.
-- Callers: processes, readers
create or replace view writ.schedule_tick as
select t.tenant_id, t.schedule, t.tick, t.job_id, t.fired_at, t.fired_by from writ_data.schedule_tick t
where (select writ.visible_tenant()) in ('', t.tenant_id);
