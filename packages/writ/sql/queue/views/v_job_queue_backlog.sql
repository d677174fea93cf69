-- How many jobs can be claimed now, by kind. The tenant is read once, in a subquery, and not for
-- every row.
-- Callers: processes, readers
create or replace view writ.v_job_queue_backlog with (security_barrier) as
select l.job_kind, sum(cardinality(r.job_ids)) as backlog
from writ_data.job_ready r
join writ_data.lane l using (lane_id)
where (select writ.visible_tenant()) in ('', l.tenant_id)
group by l.job_kind;
