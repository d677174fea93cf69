-- Ends jobs that no worker holds, as cancelled. Each gets a final execution (attempt 0 if it was
-- never tried), so that its state follows from executions alone. The caller has just deleted their
-- ready or waiting rows. A job that has an effect, or an end, is left alone: a fault may have left
-- it a row. Answers the jobs that it ended.
create or replace function writ_data.end_unleased(
  p_job_ids uuid[],
  p_attempts smallint[],
  p_execution_nos integer[],
  p_error_code text,
  p_error_message text,
  p_at timestamptz
) returns uuid[]
language plpgsql
as $$
declare
  v_ended uuid[];
begin
  with ended as (
    insert into writ_data.job_execution (
      job_id, execution_no, attempt, status, abort_kind, final, finished_at, error_code,
      error_message
    )
    select j, n, a, 'ABORTED', 'cancelled', true, p_at, p_error_code, left(p_error_message, 4000)
    from unnest(p_job_ids, p_attempts, p_execution_nos) u(j, a, n)
    on conflict do nothing
    returning job_id
  )
  select coalesce(array_agg(job_id), '{}') into v_ended from ended;
  return v_ended;
end $$;
