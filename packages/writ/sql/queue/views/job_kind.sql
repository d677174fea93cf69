-- The kinds of jobs that have been registered.
-- Callers: processes, readers
create or replace view writ.job_kind as select * from writ_data.job_kind;
