-- Marks queue jobs COMMITTED in the transaction of their effects, for the gates that own a reserved
-- kind. The worker's report then makes them DONE. p_results: their results as JSON text.
-- Answers which attempt each was, in order. The caller has checked their leases (lease_fault).
create or replace function writ_data.commit_leased(
  p_jobs uuid[],
  p_tokens uuid[],
  p_results text[],
  p_at timestamptz
) returns smallint[]
language plpgsql
as $$
declare
  v_attempts smallint[];
begin
  with committed as (
    insert into writ_data.job_execution (
      job_id, execution_no, attempt, lease_token, lease_owner, status,
      started_at, committed_at, result
    )
    select
      u.job, l.execution_nos[p.place], l.attempts[p.place] + 1, l.lease_token, l.holder,
      'COMMITTED', l.start_at[width_bucket(p.place - 1, l.start_upto) + 1], p_at, u.result::json
    from unnest(p_jobs, p_tokens, p_results) u(job, token, result)
    join writ_data.job_lease l on l.lease_token = u.token
    cross join lateral (select array_position(l.job_ids, u.job) as place) p
    returning job_id, attempt
  )
  select array_agg(c.attempt order by u.n)
  into v_attempts
  from unnest(p_jobs) with ordinality u(job, n)
  join committed c on c.job_id = u.job;
  return v_attempts;
end $$;
