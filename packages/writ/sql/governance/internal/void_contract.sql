-- Fails an approved contract that can no longer be done as approved, and replaces it with a new
-- draft. Answers the draft. The caller has locked the contract.
create or replace function writ_data.void_contract(
  p_contract uuid,
  p_reason text,
  p_actor text,
  p_at timestamptz
) returns uuid
language plpgsql
as $$
declare
  v_new uuid := writ_data.uuidv7();
  v_days double precision;
begin
  perform writ_data.move_contract(p_contract, 'FAILED', p_reason, p_actor, p_at);
  select ((writ_data.governance_policy_of(c.tenant_id)).document ->> 'draft_days')::double precision
  into v_days
  from writ_data.contract c
  where c.contract_id = p_contract;
  insert into writ_data.contract (
    contract_id, tenant_id, status, issue_id, source, title, description, content, scope_hash,
    scope, steps, risk_level, confidence, policy_version, created_by, on_behalf_of, window_hours,
    constraints, parent_contract_id, template_id, template, due_at, created_at, updated_at,
    expires_at
  )
  select
    v_new, c.tenant_id, 'DRAFT', c.issue_id, c.source, c.title, c.description, c.content,
    sha256(convert_to(c.content, 'UTF8')),
    array(select jsonb_array_elements_text(c.content::jsonb -> 'scope')),
    c.content::jsonb -> 'steps',
    c.risk_level, c.confidence, c.policy_version, c.created_by, c.on_behalf_of, c.window_hours,
    c.constraints, c.contract_id, null,
    c.content::jsonb -> 'template',
    p_at + v_days * interval '1 day',
    p_at, p_at,
    p_at + v_days * interval '1 day'
  from writ_data.contract c
  where c.contract_id = p_contract;

  insert into writ_data.contract_history (
    contract_id, version, from_status, to_status, reason, by, at
  ) values (v_new, 1, '', 'DRAFT', 'in place of ' || p_contract, p_actor, p_at);
  perform writ_data.contract_receipt(
    v_new, 'accept', 'contract_moved',
    jsonb_build_object(
      'to', 'DRAFT',
      'why', 'in place of ' || p_contract,
      'by', p_actor,
      'scope_hash', (
        select encode(scope_hash, 'hex') from writ_data.contract where contract_id = v_new
      )
    ),
    p_at
  );
  return v_new;
end $$;
