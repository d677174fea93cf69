-- Tells a commit why it cannot be.
-- Raises:  WR001 already_committed when an effect of the job stands, else lease_lost with p_detail.
create or replace function writ_data.not_committable(p_job_id uuid, p_detail text) returns void
language plpgsql
as $$
begin
  if exists (
    select from writ_data.job_execution
    where job_id = p_job_id and status in ('COMMITTED', 'DONE')
  ) then
    raise exception using errcode = 'WR001', message = 'already_committed',
      detail = 'An effect of this job stands already.', hint = 'Do nothing and finish.';
  end if;
  raise exception using errcode = 'WR001', message = 'lease_lost', detail = p_detail,
    hint = 'Stop: another worker has it, or will have.';
end $$;
