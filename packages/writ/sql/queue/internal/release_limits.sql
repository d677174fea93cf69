-- Frees what jobs of a lease that have ended held of the limits of their kinds.
create or replace function writ_data.release_limits(p_lease_token uuid, p_jobs uuid[]) returns void
language sql
begin atomic
  with ended as (
    select j.job_kind, coalesce(j.limit_key, '') as limit_key, count(*) as jobs
    from unnest(p_jobs) u(id)
    join writ_data.job j on j.job_id = u.id
    group by 1, 2
  ), gone as (
    delete from writ_data.limit_hold h
    using ended e
    where h.lease_token = p_lease_token
      and h.job_kind = e.job_kind
      and h.limit_key = e.limit_key
      and h.open_jobs <= e.jobs
  )
  update writ_data.limit_hold h
  set open_jobs = h.open_jobs - e.jobs
  from ended e
  where h.lease_token = p_lease_token
    and h.job_kind = e.job_kind
    and h.limit_key = e.limit_key
    and h.open_jobs > e.jobs;
end;
