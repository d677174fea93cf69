-- A person decides an audit that was inconclusive: PASS or FAIL, with a reason. A FAIL can only be
-- acknowledged.
-- Callers: writ_principal, writ_server
-- Answers: {job_id, audit_id, verdict, status}.
-- Refuses: job_not_found, own_contract (those who proposed the contract or its template, approved
--          it or broke the glass, and those they did so for), reason_required, verdict_stands,
--          invalid_transition, and what may() refuses (right: approve).
-- Locks:   the contract, then the governance job.
create or replace function writ.fn_audit_resolve(
  p_key text,
  p_job_id uuid,
  p_verdict text,
  p_reason text
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  v_reason text := left(btrim(p_reason), 1000);
  c writ_data.contract;
  g writ_data.governance_job;
  m record;
  v_who text;
  a writ_data.governance_audit;  -- the last one
begin
  -- Lock, then check.

  select * into c
  from writ_data.contract x
  where x.contract_id = (
      select y.contract_id from writ_data.governance_job y where y.job_id = p_job_id
    )
    and writ_data.visible(x.tenant_id)
  for no key update;
  if not found then
    return writ_data.refusal('job_not_found', p_job_id::text);
  end if;
  select * into g from writ_data.governance_job where job_id = p_job_id for no key update;
  select * into a from writ_data.governance_audit where audit_id = g.audit_id;
  m := writ_data.may(p_key, 'approve', c.tenant_id);
  if m.refusal is not null then
    return m.refusal;
  end if;
  v_who := (m.who).principal_id;
  if v_who = any (c.approved_by) or exists (
    select from writ_data.contract x
    where x.contract_id in (c.contract_id, c.template_id)
      and v_who = any (writ_data.behind(x.created_by))
  ) or exists (
    select from writ_data.contract_review r
    where r.contract_id = c.contract_id and r.action = 'BREAK_GLASS' and r.by = v_who
  ) then
    return writ_data.deny(
      m.who, 'approve', c.tenant_id, 'own_contract',
      format('%s has proposed or approved it, or has broken the glass.', v_who), v_now
    );
  elsif length(coalesce(v_reason, '')) <= 10 then
    return writ_data.refusal(
      'reason_required', 'More than ten characters, for those who read it in a year.'
    );
  elsif a.verdict = 'FAIL' then
    update writ_data.governance_audit set acknowledged_by = v_who where audit_id = a.audit_id;
    perform writ_data.record(
      'fn_audit_resolve', v_who, v_now, '{}', '{}', '{}', '{}',
      jsonb_build_object('audit_id', a.audit_id, 'acknowledged', true)
    );
    return writ_data.refusal('verdict_stands', 'A FAIL is acknowledged, not overturned.');
  elsif g.status <> 'AUDIT_PENDING' or a.verdict is distinct from 'INCONCLUSIVE'
    or coalesce(p_verdict, '') not in ('PASS', 'FAIL')
  then
    return writ_data.refusal('invalid_transition', format(
      'The job is %s, and its last verdict %s.', g.status, coalesce(a.verdict, 'none')
    ));
  end if;

  -- Settle, and answer.

  perform writ_data.settle_audits(
    array[p_job_id], p_verdict, array[v_reason], array[a.checks], array[a.evidence],
    array[a.health_after], v_who, v_who, v_now, v_now
  );
  perform writ_data.clear_alert(
    'AUDIT_INCONCLUSIVE', 'governance_job/' || p_job_id, v_who, v_now
  );
  return (
    select jsonb_build_object(
      'job_id', x.job_id, 'audit_id', x.audit_id, 'verdict', x.audit_verdict, 'status', x.status
    )
    from writ_data.governance_job x
    where x.job_id = p_job_id
  );
end $$;
