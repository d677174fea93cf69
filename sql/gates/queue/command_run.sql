-- view: workflow_admin, dot_executor, writ_auditor
-- Who called which gate, when, on how many jobs.
create or replace view writ.command_run as select * from writ_data.command_run;
