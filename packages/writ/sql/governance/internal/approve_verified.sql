-- Approves a contract if enough persons have signed its document, as an applier has verified.
-- p_quorum: what the applier's trust file demands; the policy may demand more. The caller has
-- locked the contract.
create or replace function writ_data.approve_verified(
  p_contract uuid,
  p_quorum integer,
  p_trust text,
  p_actor text,
  p_at timestamptz
) returns void
language plpgsql
as $$
declare
  c writ_data.contract;
  v_by text[];
  v_needed integer;
begin
  select * into c from writ_data.contract where contract_id = p_contract;
  if c.status <> 'ELIGIBLE' or c.approval_hash is null
    or c.risk_level = 'critical' and c.escalated_by is null
  then
    return;
  end if;
  v_by := writ_data.approvers(c);
  select greatest(
    p_quorum,
    (d.document::jsonb #>> '{policy,quorum}')::integer,
    ((writ_data.governance_policy_of(c.tenant_id)).document
      #>> array['approvals', c.risk_level])::integer
  )
  into v_needed
  from writ_data.contract_document d
  where d.contract_id = c.contract_id and d.hash = c.approval_hash;
  if cardinality(v_by) < v_needed or v_needed is null then
    return;
  end if;

  update writ_data.contract
  set approved_by = v_by, approved_at = p_at, window_start = p_at,
    window_end = p_at + writ_data.approval_window(c), due_at = p_at + writ_data.approval_window(c)
  where contract_id = p_contract;
  perform writ_data.move_contract(
    p_contract, 'APPROVED',
    format('approved by %s, verified with %s', array_to_string(v_by, ', '), case p_trust
      when 'database' then 'the keys of the database' else 'trust file ' || p_trust end),
    p_actor, p_at
  );
  perform writ_data.clear_review_alerts(c, p_actor, p_at);
end $$;
