-- Who called which gate, when, on how many jobs.
-- Callers: processes, readers
create or replace view writ.command_run as
select batch_id as run_id, at, command, actor, cardinality(subjects) as jobs, note from writ_data.event_batch;
