-- Which tick of a schedule became which job, and who fired it.
-- Callers: processes, readers
create or replace view writ.schedule_tick with (security_barrier) as
select t.tenant_id, t.schedule, t.tick, t.job_id, t.fired_at, t.fired_by
from writ_data.schedule_tick t
-- COALESCE, because the planner takes a bare IN for something that few rows pass, and then reads
-- all.
where coalesce((select writ.visible_tenant()) in ('', t.tenant_id), false);
