-- view: workflow_admin, dot_executor, writ_auditor
-- What can be claimed now, by kind.
create or replace view writ.v_job_queue_backlog as
select job_kind, count(*) as backlog from writ_data.job_ready group by job_kind;
