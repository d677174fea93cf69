-- Reads what was signed, and the signatures, of governance jobs, by run. An applier checks them
-- before the first effect: it takes nothing from here but the bytes that were signed and what it
-- compares with them. For an instance these are the bytes and signatures of its template.
-- Callers: writ_applier
-- Answers: [{contract_id, content, pre_state, document, glass, instance, undo, deployment, risk,
--          quorum, signatures: [{review_no, by, scheme, signature, public_key, verdict, active,
--          rights, tenant}]} or null], in order. glass: why it was broken. instance: the parameters
--          of an instance. undo: of a rollback, {step number: {slot: value}}, what it restores.
--          quorum: what the policy in force demands for each risk.
-- Refuses: invalid_argument (more than 10,000 runs).
--
-- Every job costs one such call. The statement is planned once per session. OFFSET 0 keeps the plan
-- on index lookups, even if the tables were small when it was planned.
create or replace function writ.fn_governed_approvals(p_runs uuid[]) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
begin
  if cardinality(p_runs) > 10000 then
    return writ_data.refusal('invalid_argument', 'A call reads at most 10,000 runs.');
  end if;
  return (
    select coalesce(
      jsonb_agg(
        case when t.contract_id is not null then jsonb_build_object(
          'contract_id', t.contract_id,
          'content', c.content,
          'pre_state', c.pre_state::jsonb,
          'document', d.document,
          'glass', c.glass_broken,
          'instance', case when c.template_id is not null then c.template_params end,
          'undo', case when g.kind = 'rollback' then (
            select coalesce(jsonb_object_agg(s.step_no, s.found), '{}')
            from writ_data.governance_step s
            where s.job_id = g.of_job_id and s.found is not null
          ) end,
          'deployment', writ_data.deployment_id(),
          'risk', t.risk_level,
          'quorum', (writ_data.governance_policy_of(t.tenant_id)).document -> 'approvals',
          'signatures', writ_data.signatures_of(
            t.contract_id, c.approval_hash,
            case when c.glass_broken is null then 'APPROVE' else 'BREAK_GLASS' end
          )
        ) end order by u.n
      ),
      '[]'
    )
    from unnest(p_runs) with ordinality u(run_id, n)
    left join lateral (
      select x.tenant_id, x.contract_id, x.kind, x.of_job_id
      from writ_data.governance_job x
      where x.run_id = u.run_id and writ_data.visible(x.tenant_id)
      offset 0
    ) g on true
    left join lateral (
      select x.*
      from writ_data.contract x
      where x.tenant_id = g.tenant_id and x.contract_id = g.contract_id
      offset 0
    ) c on true
    left join lateral (
      select x.*
      from writ_data.contract x
      where x.tenant_id = g.tenant_id
        and x.contract_id = coalesce(c.template_id, c.contract_id)
      offset 0
    ) t on true
    left join lateral (
      select x.document
      from writ_data.contract_document x
      -- An instance names the document that was signed when it began: a template that was revoked
      -- since has another round.
      where x.contract_id = t.contract_id and x.hash = c.approval_hash
      offset 0
    ) d on true
  );
end $$;
