-- Renews leases, for a day at most. Does not renew a lease whose jobs have all run past their
-- timeout, so that the reaper takes it back.
-- Callers: writ_worker, writ_applier
-- Answers: {renewed: [token], lost: [token], cancel: [job_id]}. cancel lists the jobs of renewed
--          leases whose cancellation was requested. A lease with another tenant's jobs is lost to
--          the caller.
-- Refuses: batch_too_large.
-- Locks:   the leases in the order of their tokens, to prevent deadlocks. It updates no key column,
--          so a transaction that holds a lease for its commit does not make a renewal wait.
create or replace function writ.fn_job_renew_many(
  p_lease_tokens uuid[],
  p_lease_ttl_seconds double precision,
  p_actor text default null
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  v_tenant text := writ_data.caller_tenant();
  v_ttl interval := least(greatest(p_lease_ttl_seconds, 0), 86400) * interval '1 second';
  v_renewed uuid[];
  v_cancel uuid[];
begin
  if cardinality(p_lease_tokens) > 10000 then
    return writ_data.refusal('batch_too_large', 'A call renews at most 10,000 leases.');
  end if;

  perform from writ_data.job_lease
  where lease_token = any (p_lease_tokens)
  order by lease_token for no key update;
  with renewed as (
    update writ_data.job_lease l
    set leased_until = greatest(l.leased_until, v_now + v_ttl)
    where l.lease_token = any (p_lease_tokens)
      and v_now <= coalesce(l.start_at[cardinality(l.start_at)], l.claimed_at)
        + l.timeout_s * interval '1 second'
      and (v_tenant is null or not writ_data.foreign_jobs(l.job_ids, v_tenant))
    returning l.lease_token
  )
  select array_agg(lease_token) into v_renewed from renewed;

  select array_agg(c.job_id) into v_cancel
  from (
    select unnest(l.job_ids) from writ_data.job_lease l where l.lease_token = any (v_renewed)
  ) h(job_id)
  join writ_data.job_cancel c on c.job_id = h.job_id
  where not exists (
    select from writ_data.job_execution e
    where e.job_id = h.job_id and (e.final or e.status <> 'ABORTED')
  );
  return jsonb_build_object(
    'renewed', to_jsonb(coalesce(v_renewed, '{}')),
    'lost', (
      select coalesce(jsonb_agg(t), '[]')
      from unnest(p_lease_tokens) t
      where t <> all (coalesce(v_renewed, '{}'))
    ),
    'cancel', to_jsonb(coalesce(v_cancel, '{}'))
  );
end $$;
