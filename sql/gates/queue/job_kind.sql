-- view: workflow_admin, dot_executor, writ_auditor
-- The kinds of jobs that have been registered.
create or replace view writ.job_kind as select * from writ_data.job_kind;
