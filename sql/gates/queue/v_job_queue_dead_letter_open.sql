-- view: workflow_admin, dot_executor, writ_auditor
-- Dead letters that nobody has replayed, found by the index of final executions.
create or replace view writ.v_job_queue_dead_letter_open as
select q.* from writ_data.job_execution e join writ.job_queue q on q.job_id = e.job_id
where e.final and e.abort_kind <> 'cancelled' and q.status = 'dead_letter';
