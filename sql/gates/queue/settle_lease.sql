-- internal
-- The one place that changes a lease after its claim, besides its renewal: p_ended of its jobs have ended, and those up to
-- p_start_upto are started (start marks only grow; jobs of a lease start in its order). A lease without open jobs is removed.
-- The caller holds the row. Answers how many of its jobs are started now.
create or replace function writ_data.settle_lease(p_lease writ_data.job_lease, p_ended integer, p_start_upto integer, p_at timestamptz)
  returns integer language plpgsql as $$
declare
  v_before integer := writ_data.started_upto(p_lease);
  v_after integer := greatest(v_before, least(coalesce(p_start_upto, 0), cardinality(p_lease.job_ids)));
begin
  if p_lease.open_jobs <= p_ended then
    delete from writ_data.job_lease where lease_token = p_lease.lease_token;
    return v_before;
  elsif v_after > v_before then
    update writ_data.job_lease set open_jobs = open_jobs - p_ended, start_upto = start_upto || v_after, start_at = start_at || p_at
    where lease_token = p_lease.lease_token;
  elsif p_ended > 0 then
    update writ_data.job_lease set open_jobs = open_jobs - p_ended where lease_token = p_lease.lease_token;
  end if;
  return v_after;
end $$;
