-- view: workflow_admin, dot_executor, writ_auditor
-- Every type of fact, with its stream and severity.
create or replace view writ.event_type_registry as select * from writ_data.event_type_registry;
