-- A person decides an audit that was inconclusive: PASS or FAIL, with a reason; neither whoever proposed the contract nor whoever approved it. A FAIL can only be acknowledged. Answers {job_id, audit_id, verdict, status}.
-- Callers: writ_principal, writ_server
create or replace function writ.fn_audit_resolve(p_key text, p_job_id uuid, p_verdict text, p_reason text) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := writ.now(); g writ_data.governance_job; c writ_data.contract; m record; a writ_data.governance_audit;
begin
  select * into c from writ_data.contract x where x.contract_id = (select y.contract_id from writ_data.governance_job y where y.job_id = p_job_id) and writ_data.visible(x.tenant_id) for no key update;
  if not found then
    return writ_data.refusal('job_not_found', p_job_id::text);
  end if;
  select * into g from writ_data.governance_job where job_id = p_job_id for no key update;
  m := writ_data.may(p_key, 'approve', c.tenant_id);
  select * into a from writ_data.governance_audit where audit_id = g.audit_id;
  if m.refusal is not null then
    return m.refusal;
  elsif (m.who).principal_id = c.created_by or (m.who).principal_id = any (c.approved_by) or (m.who).principal_id = c.on_behalf_of then
    return writ_data.deny(m.who, 'approve', c.tenant_id, 'own_contract', 'Whoever proposed or approved it does not decide its audit.', v_now);
  elsif length(coalesce(btrim(p_reason), '')) <= 10 then
    return writ_data.refusal('reason_required', 'More than ten characters, for those who read it in a year.');
  elsif a.verdict = 'FAIL' then
    update writ_data.governance_audit set acknowledged_by = (m.who).principal_id where audit_id = a.audit_id;
    return writ_data.refusal('verdict_stands', 'A FAIL is acknowledged, not overturned.');
  elsif g.status <> 'AUDIT_PENDING' or a.verdict is distinct from 'INCONCLUSIVE' or coalesce(p_verdict, '') not in ('PASS', 'FAIL') then
    return writ_data.refusal('invalid_transition', format('The job is %s, and its last verdict %s.', g.status, coalesce(a.verdict, 'none')));
  end if;
  perform writ_data.settle_audits(array[p_job_id], p_verdict, array[btrim(p_reason)], array[a.checks], array[a.evidence], array[a.health_after], (m.who).principal_id, (m.who).principal_id, v_now, v_now);
  perform writ_data.clear_alert('AUDIT_INCONCLUSIVE', 'governance_job/' || p_job_id, (m.who).principal_id, v_now);
  return (select jsonb_build_object('job_id', x.job_id, 'audit_id', x.audit_id, 'verdict', x.audit_verdict, 'status', x.status) from writ_data.governance_job x where x.job_id = p_job_id);
end $$;
