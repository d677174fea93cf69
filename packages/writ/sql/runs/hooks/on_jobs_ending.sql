-- Locks the runs of jobs that end in two parts, all at once and in the order of their ids.
create or replace function writ_data.on_jobs_ending(p_jobs uuid[]) returns void
language plpgsql
set enable_seqscan = off
as $$
begin
  perform writ_data.lock_runs(array_agg(distinct j.run_id))
  from writ_data.job j
  where j.job_id = any (p_jobs) and j.run_id is not null
  having count(*) > 0;
end $$;
