-- Every type of fact, with its stream and severity.
-- Callers: processes, readers
create or replace view writ.event_type_registry as select * from writ_data.event_type_registry;
