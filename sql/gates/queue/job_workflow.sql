-- view: workflow_admin, dot_executor, writ_auditor
create or replace view writ.job_workflow as select * from writ_data.job_workflow;
