-- Whether a job is a step of a run that is open, or that ended at p_before or later. Later steps
-- and compensations read the outputs of such a step, and its readers have the retention to fetch
-- them.
create or replace function writ_data.on_job_swept(
  p_job uuid,
  p_before timestamptz
) returns boolean
language plpgsql stable
set enable_seqscan = off
as $$
begin
  return exists (
    select from writ_data.job j join writ_data.run r on r.run_id = j.run_id
    where j.job_id = p_job
      and (r.status not in ('COMPLETED', 'FAILED', 'CANCELLED') or r.moved_at >= p_before));
end $$;
