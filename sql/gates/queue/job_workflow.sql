-- view: workflow_admin, dot_executor, writ_auditor
-- Groups of jobs.
create or replace view writ.job_workflow as select * from writ_data.job_workflow
where coalesce(current_setting('writ.tenant', true), '') in ('', tenant_id);
