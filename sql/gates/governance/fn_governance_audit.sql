-- gate: dot_executor, workflow_admin
-- Audits a governance job whose steps are done. p_evidence: what probes say now; p_read: what stands outside the database now. PASS: it is COMPLETED; FAIL: it is rolled back; INCONCLUSIVE: once more, then a person decides. Of a job that is not waiting for it, it answers the last verdict.
-- Answers {job_id, audit_id, verdict, status}.
create or replace function writ.fn_governance_audit(p_job_id uuid, p_evidence jsonb, p_read jsonb, p_actor text) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  v_now timestamptz := writ.now(); g writ_data.governance_job; c writ_data.contract; v_checks jsonb; v_verdict text; v_reason text; v_health jsonb;
begin
  select * into c from writ_data.contract x where x.contract_id = (select y.contract_id from writ_data.governance_job y where y.job_id = p_job_id) for no key update;
  select * into g from writ_data.governance_job where job_id = p_job_id for no key update;
  if not found then
    return writ_data.refusal('job_not_found', p_job_id::text);
  elsif g.status = 'AUDIT_PENDING' and g.audits < 2 then
    select coalesce(jsonb_object_agg(h.capability, h.status), '{}') into v_health from jsonb_object_keys(g.health_before) u(name) cross join lateral writ_data.health_of(c.tenant_id, coalesce(p_evidence, '{}'), p_only => u.name) h;
    select jsonb_agg(jsonb_set(x.c, '{detail}', to_jsonb(left(x.c ->> 'detail', 1000))) order by x.n) into v_checks from jsonb_array_elements(writ_data.audit_checks(g, c, v_health, p_read, v_now)) with ordinality x(c, n); -- they stand in a receipt
    select case when bool_or(x ->> 'result' = 'FAIL') then 'FAIL' when bool_or(x ->> 'result' = 'INCONCLUSIVE') then 'INCONCLUSIVE' else 'PASS' end,
      string_agg(format('%s: %s', x ->> 'check', x ->> 'detail'), '; ') filter (where x ->> 'result' <> 'PASS') into v_verdict, v_reason from jsonb_array_elements(v_checks) x;
    perform writ_data.settle_audit(p_job_id, v_verdict, coalesce(v_reason, 'all checks passed'), v_checks, p_evidence, v_health, null, p_actor, v_now, writ.now());
  end if;
  return (select jsonb_build_object('job_id', x.job_id, 'audit_id', x.audit_id, 'verdict', x.audit_verdict, 'status', x.status) from writ_data.governance_job x where x.job_id = p_job_id);
end $$;
