-- Renews leases, for a day at most. One whose jobs have all run past their timeout is not renewed: the reaper shall have it. Updates no key column,
-- so a transaction that holds the lease for its commit does not make renewal wait.
-- Answers {renewed: [token], lost: [token], cancel: [job_id]}: the jobs among them that somebody wants stopped.
-- Callers: writ_worker, writ_applier
create or replace function writ.fn_job_renew_many(p_lease_tokens uuid[], p_lease_ttl_seconds double precision, p_actor text default null) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := writ.now();
  v_renewed uuid[]; v_cancel uuid[];
begin
  -- Locked in the order of their tokens, in a statement of its own, so that two calls with the same leases cannot wait for each other in a circle.
  perform from writ_data.job_lease where lease_token = any (p_lease_tokens) order by lease_token for no key update;
  with renewed as (
    update writ_data.job_lease l set leased_until = greatest(l.leased_until, v_now + least(greatest(p_lease_ttl_seconds, 0), 86400) * interval '1 second')
    where l.lease_token = any (p_lease_tokens)
      and v_now <= coalesce(l.start_at[cardinality(l.start_at)], l.claimed_at) + l.timeout_s * interval '1 second'
    returning l.lease_token
  )
  select array_agg(lease_token) into v_renewed from renewed;
  select array_agg(c.job_id) into v_cancel
  from (select unnest(l.job_ids) from writ_data.job_lease l where l.lease_token = any (v_renewed)) h(job_id)
  join writ_data.job_cancel c on c.job_id = h.job_id
  where not exists (select from writ_data.job_execution e where e.job_id = h.job_id and (e.final or e.status <> 'ABORTED'));
  return jsonb_build_object('renewed', to_jsonb(coalesce(v_renewed, '{}')),
    'lost', (select coalesce(jsonb_agg(t), '[]') from unnest(p_lease_tokens) t where t <> all (coalesce(v_renewed, '{}'))),
    'cancel', to_jsonb(coalesce(v_cancel, '{}')));
end $$;
