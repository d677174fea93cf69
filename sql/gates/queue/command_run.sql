-- Who called which gate, through which database login, when, on how many jobs.
-- Callers: processes, readers
create or replace view writ.command_run as
select batch_id as run_id, at, command, actor, cardinality(subjects) as jobs, note, login
from writ_data.event_batch;
