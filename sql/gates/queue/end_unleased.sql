-- internal
-- Ends jobs that no worker holds: each gets a final execution (number 0 if it never had one), so that its state follows
-- from executions alone. The caller has just deleted their ready or waiting rows, and so owns them.
create or replace function writ_data.end_unleased(p_job_ids uuid[], p_attempts smallint[], p_execution_nos smallint[],
  p_error_code text, p_error_message text, p_at timestamptz) returns void language sql
  begin atomic
  insert into writ_data.job_execution (job_id, execution_no, attempt, status, abort_kind, final, finished_at, error_code, error_message)
  select j, case when n = 1 then 0 else n end, a, 'ABORTED', 'cancelled', true, p_at, p_error_code, p_error_message
  from unnest(p_job_ids, p_attempts, p_execution_nos) u(j, a, n);
  end;
