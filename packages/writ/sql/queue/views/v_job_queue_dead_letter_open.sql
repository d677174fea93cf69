-- Dead letters that have not been replayed. It finds them by the index of final executions and
-- looks them up one by one; otherwise the planner may compute the status of every job.
-- Callers: processes, readers
create or replace view writ.v_job_queue_dead_letter_open as
select q.*
from (select job_id from writ_data.job_execution where final and abort_kind <> 'cancelled') e
cross join lateral (select * from writ.job_queue j where j.job_id = e.job_id offset 0) q
where q.status = 'dead_letter';
