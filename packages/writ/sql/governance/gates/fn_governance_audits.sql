-- Audits governance jobs whose steps are done, and finishes the queue jobs that requested the
-- audits.
-- Callers: writ_applier
-- p_items: [{job: the queue job, token: of its lease, read: {slot: value} outside the database,
--          touched: {step: target}}]. The queue job names the governance job. touched is what the
--          step types of the applier say that each step touches; the audit compares it with the
--          targets (A-001).
-- Answers: [{job_id, audit_id, verdict, status} or a refusal], in order. PASS completes the job.
--          FAIL rolls it back. INCONCLUSIVE repeats the audit once; after that, a person decides.
--          For a job that awaits no audit, the gate answers the last verdict.
-- Refuses: invalid_argument, actor_required; each item: lease_lost, job_not_started, job_not_found.
--          An unexpected error of one item does not affect the others.
-- Locks:   the leases in key-share mode, then the contracts and the governance jobs.
create or replace function writ.fn_governance_audits(p_items jsonb, p_actor text) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_item jsonb;
  v_answers jsonb := '[]'::jsonb;
begin
  if jsonb_typeof(p_items) is distinct from 'array'
    or jsonb_array_length(p_items) not between 1 and 1000
  then
    return writ_data.refusal('invalid_argument', 'One to a thousand jobs are audited at once.');
  elsif length(coalesce(btrim(p_actor), '')) not between 1 and 200 then
    return writ_data.refusal('actor_required', 'An actor has 1 to 200 characters.');
  end if;

  begin
    return writ_data.audit_items(p_items, p_actor);
  exception when others then
    -- Deadlocks, missing resources and a server that stops concern every item: the caller repeats.
    if writ_data.is_transient(sqlstate) or jsonb_array_length(p_items) = 1 then
      raise;
    end if;
  end;

  -- One item is at fault. Trying them one by one shows which.
  for v_item in select jsonb_array_elements(p_items) loop
    begin
      v_answers := v_answers || writ_data.audit_items(jsonb_build_array(v_item), p_actor);
    exception when others then
      if writ_data.is_transient(sqlstate) then
        raise;
      end if;
      v_answers := v_answers || writ_data.refusal('invalid_contract', left(sqlerrm, 1000));
    end;
  end loop;
  return v_answers;
end $$;
