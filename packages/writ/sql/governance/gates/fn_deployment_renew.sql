-- Gives a copy of a deployment, for instance staging restored from production, an id of its own.
-- Approvals name the id, so those that came with the copy count here no more. Approved contracts
-- fail and get a new draft; a contract in review loses its signatures. Open governance jobs end
-- without applying or undoing anything, because their effects belong to the original.
-- Callers: writ_admin
-- p_deployment: the present id. A call that names another one changes nothing, so a repeated call
--          renews once, and a call that reaches the wrong database does nothing.
-- Answers: {deployment_id, replaces, contracts, in_review, jobs}: the ids, and how many approved
--          contracts, contracts in review and governance jobs it ended or voided.
-- Refuses: actor_required, tenant_forbidden, reason_required, deployment_mismatch.
-- Locks:   the row of the deployment, then contracts, then governance jobs, in the order of their
--          ids, then their runs.
create or replace function writ.fn_deployment_renew(
  p_deployment uuid,
  p_reason text,
  p_actor text
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz;
  v_why text := left('the deployment was renewed: ' || btrim(p_reason), 1000);
  v_was uuid;
  v_id uuid := gen_random_uuid();
  v_contract uuid;
  v_approved uuid[];
  v_active uuid[];
  v_in_review integer;
  v_jobs integer := 0;
  g record;
begin
  if coalesce(btrim(p_actor), '') = '' or length(p_actor) > 200 then
    return writ_data.refusal('actor_required');
  elsif writ_data.caller_tenant() is not null then
    return writ_data.refusal('tenant_forbidden', 'A deployment is renewed for all tenants.');
  elsif length(coalesce(btrim(p_reason), '')) < 10 then
    return writ_data.refusal('reason_required',
      'More than ten characters, for those who read it in a year.');
  end if;

  -- Lock.

  select d.deployment_id into v_was from writ_data.deployment d for update;
  if v_was is distinct from p_deployment then
    return writ_data.refusal('deployment_mismatch', format('This deployment is %s.', v_was));
  end if;
  perform from writ_data.contract c
  where c.status in ('ELIGIBLE', 'APPROVED', 'ACTIVE')
  order by c.contract_id
  for no key update;
  perform from writ_data.governance_job y
  where y.status in ('PENDING', 'RUNNING', 'AUDIT_PENDING', 'ROLLBACK_PENDING')
  order by y.job_id
  for no key update;
  perform writ_data.lock_runs(array(
    select y.run_id from writ_data.governance_job y
    where y.status in ('PENDING', 'RUNNING', 'AUDIT_PENDING', 'ROLLBACK_PENDING')
    order by y.run_id));
  v_now := writ.now();

  -- Rename.

  update writ_data.deployment set deployment_id = v_id, since = v_now;
  perform writ_data.system_receipt('deployment_named', 'deployment', jsonb_build_object(
    'deployment', v_id,
    'replaces', v_was,
    'reason', left(btrim(p_reason), 1000),
    'actor', p_actor,
    'login', session_user), v_now);

  -- End what is open. Nothing is applied and nothing is undone.

  for g in
    select y.status, array_agg(y.job_id order by y.job_id) as jobs
    from writ_data.governance_job y
    where y.status in ('PENDING', 'RUNNING', 'AUDIT_PENDING', 'ROLLBACK_PENDING')
    group by y.status
    order by y.status
  loop
    perform writ_data.move_governance_jobs(
      g.jobs, array['CANCELLED'], 'deployment_renewed', v_why, p_actor, v_now
    );
    v_jobs := v_jobs + cardinality(g.jobs);
  end loop;
  for g in
    select r.run_id
    from writ_data.governance_job y
    join writ_data.run r on r.run_id = y.run_id
    where y.status = 'CANCELLED' and r.ending is null
      and r.status not in ('COMPLETED', 'FAILED', 'CANCELLED')
    order by r.run_id
  loop
    perform writ_data.begin_ending(
      g.run_id, 'CANCELLED', '{"reason": "The deployment was renewed.", "undo": false}', null,
      p_actor, v_now
    );
  end loop;
  delete from writ_data.governance_ended e
  using writ_data.governance_job y
  where y.job_id = e.job_id and y.status = 'CANCELLED';

  select array_agg(c.contract_id order by c.contract_id) into v_active
  from writ_data.contract c
  where c.status = 'ACTIVE';
  if v_active is not null then
    perform writ_data.close_contracts(
      v_active, 'FAILED', array_fill(v_why, array[cardinality(v_active)]), p_actor, v_now
    );
  end if;

  -- Void approvals.

  v_approved := array(
    select c.contract_id from writ_data.contract c where c.status = 'APPROVED' order by 1
  );
  foreach v_contract in array v_approved loop
    perform writ_data.void_contract(v_contract, v_why, p_actor, v_now);
  end loop;
  v_in_review := (
    select count(*) from writ_data.contract c
    where c.status = 'ELIGIBLE' and c.approval_hash is not null
  );
  perform writ_data.begin_round(c.contract_id)
  from writ_data.contract c
  where c.status = 'ELIGIBLE';
  -- An applier of the original has read what stands there, and not here.
  delete from writ_data.contract_value;

  perform writ_data.record(
    'fn_deployment_renew', p_actor, v_now, '{}', '{}', '{}', '{}', p_note => v_why
  );
  return jsonb_build_object(
    'deployment_id', v_id, 'replaces', v_was, 'contracts', cardinality(v_approved),
    'in_review', v_in_review, 'jobs', v_jobs
  );
end $$;
