-- view: workflow_admin, dot_executor, writ_auditor
create or replace view writ.command_run as select * from writ_data.command_run;
