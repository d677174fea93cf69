-- view: workflow_admin, dot_executor, writ_auditor
-- What can be claimed now, by kind. The tenant is asked for once, in a subquery, and not again for every row.
create or replace view writ.v_job_queue_backlog as
select job_kind, count(*) as backlog from writ_data.job_ready
where (select coalesce(current_setting('writ.tenant', true), '')) in ('', tenant_id) group by job_kind;
