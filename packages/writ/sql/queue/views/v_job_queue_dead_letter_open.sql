-- Dead letters that nobody has replayed, found by the index of final executions and then looked up
-- one by one: left to itself, the planner may compute the status of every job there is.
-- Callers: processes, readers
create or replace view writ.v_job_queue_dead_letter_open as
select q.*
from (select job_id from writ_data.job_execution where final and abort_kind <> 'cancelled') e
cross join lateral (select * from writ.job_queue j where j.job_id = e.job_id offset 0) q
where q.status = 'dead_letter';
