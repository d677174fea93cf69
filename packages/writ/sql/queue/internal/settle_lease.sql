-- Changes a lease whose jobs have ended or are started now. p_ended of its jobs have
-- ended, p_early of them before they were started, and the jobs up to p_start_upto are started:
-- start marks only grow, jobs of a lease start in its order, and one that has ended is passed over.
-- A lease without open jobs is removed, or left to the reaper if the caller's lock does not allow
-- that. What the lease holds of limits goes with the jobs. The caller holds the row. Answers how
-- many jobs are started now, and which of them are new.
create or replace function writ_data.settle_lease(
  p_lease writ_data.job_lease,
  p_may_remove boolean,
  p_ended uuid[],
  p_early integer,
  p_start_upto integer,
  p_at timestamptz,
  out started_upto integer,
  out started uuid[]
)
language plpgsql
set enable_seqscan = off
as $$
declare
  v_before integer := writ_data.started_upto(p_lease);
  v_ended integer := coalesce(cardinality(p_ended), 0);
begin
  started_upto := greatest(
    v_before,
    least(coalesce(p_start_upto, 0), cardinality(p_lease.job_ids))
  );
  started := '{}';
  if p_lease.limited and v_ended > 0 then
    perform writ_data.release_limits(p_lease.lease_token, p_ended);
  end if;
  if p_lease.open_jobs <= v_ended then
    started_upto := v_before;
    if p_may_remove then
      delete from writ_data.job_lease where lease_token = p_lease.lease_token;
    else
      update writ_data.job_lease set open_jobs = 0 where lease_token = p_lease.lease_token;
    end if;
  elsif started_upto > v_before then
    update writ_data.job_lease
    set
      open_jobs = open_jobs - v_ended,
      ended_early = ended_early + p_early,
      start_upto = start_upto || settle_lease.started_upto,
      start_at = start_at || p_at
    where lease_token = p_lease.lease_token;

    started := p_lease.job_ids[v_before + 1:started_upto];
    if p_lease.ended_early + p_early > 0 then
      select coalesce(array_agg(u.id order by u.n), '{}')
      into started
      from unnest(started, p_lease.execution_nos[v_before + 1:started_upto])
        with ordinality u(id, no, n)
      where not exists (
        select from writ_data.job_execution e where e.job_id = u.id and e.execution_no = u.no
      );
    end if;
  elsif v_ended > 0 then
    update writ_data.job_lease
    set open_jobs = open_jobs - v_ended, ended_early = ended_early + p_early
    where lease_token = p_lease.lease_token;
  end if;
end $$;
