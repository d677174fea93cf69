-- Ends a governance job whose run ended without completing, and finishes the queue job that
-- requested this.
-- Callers: writ_applier
-- p_job_id, p_lease_token: the queue job and its lease. The queue job names the governance job.
-- Answers: {job_id, status, rollback_job_id}. A repeated call changes nothing.
-- Refuses: actor_required, lease_lost, job_not_started, job_not_found.
-- Locks:   the lease in key-share mode, then the contract and the governance job.
create or replace function writ.fn_governance_ended(
  p_job_id uuid,
  p_lease_token uuid,
  p_actor text
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz;
  v_tenant text := writ_data.caller_tenant();
  v_id uuid;           -- the governance job
  v_fault text;
begin
  if length(coalesce(btrim(p_actor), '')) not between 1 and 200 then
    return writ_data.refusal('actor_required', 'An actor has 1 to 200 characters.');
  end if;

  perform from writ_data.job_lease l where l.lease_token = p_lease_token for key share;
  select writ_data.uuid_in(j.input::jsonb, 'job') into v_id
  from writ_data.job j
  where j.job_id = p_job_id and j.job_kind = 'governance.ended'
    and coalesce(v_tenant, j.tenant_id) = j.tenant_id;
  if v_id is null then
    return writ_data.refusal('job_not_found', p_job_id::text);
  end if;
  v_fault := writ_data.lease_fault(p_job_id, p_lease_token);
  if v_fault <> 'already_committed' then
    return writ_data.refusal(v_fault, p_job_id::text);
  end if;

  v_now := writ.now();
  if v_fault is null then
    perform writ_data.end_governance_job(v_id, p_actor, v_now);
    v_fault := writ_data.lease_fault(p_job_id, p_lease_token); -- a repeated call waited above
  end if;
  if v_fault is null then
    perform writ_data.commit_leased(
      array[p_job_id], array[p_lease_token], array[null::text], v_now
    );
    perform writ_data.record(
      'fn_governance_ended', p_actor, v_now, array[p_job_id], array['dot.job.committed'],
      array[1], array[1]
    );
  end if;
  return (
    select jsonb_strip_nulls(jsonb_build_object(
      'job_id', x.job_id, 'status', x.status, 'rollback_job_id', x.rollback_job_id
    ))
    from writ_data.governance_job x
    where x.job_id = v_id
  );
end $$;
