-- Reads the documents of contracts with the signatures that an applier verifies.
-- Callers: writ_applier
-- Answers: [{contract_id, document, deployment, risk, quorum, signatures: [{review_no, by, scheme,
--          signature, public_key, verdict, active, rights, tenant}]} or null], in order. document
--          is the text that was signed; quorum is what the policy in force demands for each risk.
--          Null where nothing waits for a verdict.
-- Refuses: invalid_argument (more than 10,000 contracts).
create or replace function writ.fn_signatures_read(p_contracts uuid[]) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
begin
  if cardinality(p_contracts) > 10000 then
    return writ_data.refusal('invalid_argument', 'A call reads at most 10,000 contracts.');
  end if;
  return (
    select coalesce(
      jsonb_agg(
        case when d.document is not null then jsonb_build_object(
          'contract_id', c.contract_id,
          'document', d.document,
          'deployment', writ_data.deployment_id(),
          'risk', c.risk_level,
          'quorum', (writ_data.governance_policy_of(c.tenant_id)).document -> 'approvals',
          'signatures', writ_data.signatures_of(c.contract_id, c.approval_hash, 'APPROVE')
        ) end order by u.n
      ),
      '[]'
    )
    from unnest(p_contracts) with ordinality u(id, n)
    left join lateral (
      select x.*
      from writ_data.contract x
      where x.contract_id = u.id and writ_data.visible(x.tenant_id) and x.status = 'ELIGIBLE'
      offset 0
    ) c on true
    left join writ_data.contract_document d
      on d.contract_id = c.contract_id and d.hash = c.approval_hash
  );
end $$;
