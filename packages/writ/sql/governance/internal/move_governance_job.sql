-- Moves one governance job: see move_governance_jobs.
create or replace function writ_data.move_governance_job(
  p_job uuid,
  p_path text[],
  p_event text,
  p_reason text,
  p_actor text,
  p_at timestamptz
) returns void
language plpgsql
as $$
begin
  perform writ_data.move_governance_jobs(array[p_job], p_path, p_event, p_reason, p_actor, p_at);
end $$;
