-- Cancels jobs past their deadline in rows that the caller has locked.
-- Answers: the jobs.
create or replace function writ_data.cancel_unleased(
  p_ready tid[],
  p_waiting uuid[],
  p_at timestamptz
) returns uuid[]
language plpgsql
set enable_seqscan = off
as $$
declare
  v_jobs uuid[];
  v_attempts smallint[];
  v_nos integer[];
begin
  with late as (
    delete from writ_data.job_ready where ctid = any (p_ready)
    returning job_ids, attempts, execution_no
  ), late_waiting as (
    delete from writ_data.job_wait where job_id = any (p_waiting)
    returning job_id, attempts, execution_no
  )
  select array_agg(job_id), array_agg(attempts), array_agg(execution_no)
  into v_jobs, v_attempts, v_nos
  from (
    select unnest(job_ids) as job_id, attempts, execution_no from late
    union all
    select * from late_waiting
  ) x;
  return writ_data.end_unleased(
    v_jobs, v_attempts, v_nos,
    'deadline_exceeded', 'The deadline passed before a worker was free.', p_at
  );
end $$;
