-- Jobs without where they stand: what costs no lookup beside the job itself.
-- Callers: processes, readers
create or replace view writ.v_job with (security_barrier) as
select j.job_id, j.tenant_id, j.job_kind, j.workflow_id, j.correlation_id, j.enqueued_at
from writ_data.job j
-- COALESCE, because the planner takes a bare IN for something that few rows pass, and then reads
-- all.
where coalesce((select writ.visible_tenant()) in ('', j.tenant_id), false)
-- A barrier keeps the order and the limit of those who ask for the newest from the tables.
order by j.job_id desc;
