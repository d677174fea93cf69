-- view: workflow_admin, dot_executor, writ_auditor
-- The settings.
create or replace view writ.dot_config as select * from writ_data.dot_config;
