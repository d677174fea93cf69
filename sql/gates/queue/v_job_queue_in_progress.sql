-- view: workflow_admin, dot_executor, writ_auditor
-- What workers hold, by kind.
create or replace view writ.v_job_queue_in_progress as
select j.job_kind, count(*) as in_progress
from writ.job_execution e join writ_data.job j using (job_id) where e.status in ('LEASED', 'IN_PROGRESS', 'COMMITTED') group by j.job_kind;
