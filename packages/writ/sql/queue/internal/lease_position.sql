-- A job's place in a lease, or null when that token does not hold it. Jobs never move within a
-- lease, so it needs no lock.
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
