-- Returns a job's position in a lease, or null if that token does not hold it. It needs no lock,
-- because jobs never move within a lease.
create or replace function writ_data.lease_position(
  p_lease_token uuid,
  p_job_id uuid
) returns integer
language sql stable
return (
  select array_position(job_ids, p_job_id)
  from writ_data.job_lease
  where lease_token = p_lease_token
);
