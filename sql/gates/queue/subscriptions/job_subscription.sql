-- view: workflow_admin, dot_executor, writ_auditor
-- What workers may claim, for those that are limited.
create or replace view writ.job_subscription as select * from writ_data.job_subscription;
