-- internal
-- A verdict and what follows from it. The caller has locked the contract and the job, which awaits its audit.
create or replace function writ_data.settle_audit(p_job uuid, p_verdict text, p_reason text, p_checks jsonb, p_evidence jsonb, p_health jsonb, p_resolved_by text, p_actor text, p_started timestamptz, p_at timestamptz) returns uuid language plpgsql as $$
declare
  g writ_data.governance_job; v_id uuid := writ_data.uuidv7(); o writ_data.governance_job;
begin
  select * into g from writ_data.governance_job where job_id = p_job;
  insert into writ_data.governance_audit (audit_id, job_id, contract_id, verdict, verdict_reason, checks, evidence, health_before, health_after, auditor_version, duration_ms, supersedes, resolved_by, created_at)
  values (v_id, p_job, g.contract_id, p_verdict, left(p_reason, 2000), p_checks, coalesce(p_evidence, '{}'), g.health_before, p_health, '1', round(extract(epoch from p_at - p_started) * 1000), g.audit_id, p_resolved_by, p_at);
  perform writ_data.job_receipt(p_job, case p_verdict when 'PASS' then 'accept' when 'FAIL' then 'refuse' else 'error' end, 'audit_verdict', jsonb_build_object('audit_id', v_id, 'verdict', p_verdict, 'why', left(p_reason, 1000), 'checks', p_checks::text, 'by', coalesce(p_resolved_by, p_actor),
    'run_log_sha256', (select encode(sha256(string_agg(convert_to(concat_ws('|', e.run_seq, e.event_type, e.step_id, e.logical_attempt, e.data::text), 'UTF8'), '\x0a' order by e.run_seq)), 'hex') from writ_data.run_event e where e.run_id = g.run_id)), p_at);
  perform writ_data.record('fn_governance_audit', p_actor, p_at, array[p_job], array['governance.audited'], array[1], array[1], jsonb_build_object('audit_id', v_id, 'verdict', p_verdict));
  update writ_data.governance_job set audit_id = v_id, audit_verdict = p_verdict, audits = audits + 1, due_at = null where job_id = p_job;
  if g.kind = 'forward' then
    update writ_data.contract set audit_verdict = p_verdict, audit_reason = left(p_reason, 1000), audit_completed_at = p_at where contract_id = g.contract_id;
  end if;
  if p_verdict = 'PASS' and g.kind = 'forward' then
    perform writ_data.move_governance_job(p_job, array['COMPLETED'], 'verdict_pass', null, p_actor, p_at);
    perform writ_data.close_contract(g.contract_id, 'COMPLETED', 'audited', p_actor, p_at);
  elsif p_verdict = 'PASS' then
    perform writ_data.move_governance_job(p_job, array['COMPLETED'], 'verdict_pass', null, p_actor, p_at);
    select * into o from writ_data.governance_job where job_id = g.of_job_id for no key update;
    if o.status = 'ROLLBACK_PENDING' then
      update writ_data.governance_job set state_after = g.state_after where job_id = o.job_id;
      perform writ_data.move_governance_job(o.job_id, array['ROLLED_BACK'], 'rollback_completed', null, p_actor, p_at);
      perform writ_data.close_contract(g.contract_id, 'FAILED', 'rolled back: ' || coalesce(o.rollback_reason, ''), p_actor, p_at);
    else
      -- A person had it tried again after it had failed.
      delete from writ_data.target_hold where contract_id = g.contract_id;
    end if;
  elsif p_verdict = 'FAIL' then
    perform writ_data.fail_governance_job(p_job, 'verdict_fail', 'audit: ' || p_reason, p_actor, p_at);
  elsif g.audits = 0 then
    perform writ_data.move_governance_job(p_job, array['AUDIT_PENDING'], 'verdict_inconclusive', p_reason, p_actor, p_at);
    update writ_data.governance_job set due_at = p_at + (writ_data.setting('governance.audit.timeout_sec'))::double precision * interval '1 second' where job_id = p_job;
    perform writ_data.enqueue_governance('governance.audit', p_job, g.tenant_id, p_actor);
  else
    perform writ_data.move_governance_job(p_job, array['AUDIT_PENDING'], 'verdict_inconclusive', p_reason, p_actor, p_at);
    perform writ_data.raise_alert('AUDIT_INCONCLUSIVE', 'P2', g.tenant_id, 'governance_job/' || p_job, jsonb_build_object('reason', left(p_reason, 1000)), p_actor, p_at);
  end if;
  return v_id;
end $$;
