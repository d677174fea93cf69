-- Returns the document that a signature of a contract signs, as rows have it: the gates compare
-- what a client has signed with it, field by field. p_policy: {version, document} of the policy.
create or replace function writ_data.document_of(
  c writ_data.contract,
  p_round integer,
  p_policy_version integer,
  p_policy jsonb,
  p_state jsonb
) returns jsonb
language sql stable
begin atomic
  select jsonb_build_object(
    'writ', 'approval 1',
    'deployment', writ_data.deployment_id(),
    'tenant', c.tenant_id,
    'contract', c.contract_id,
    'round', p_round,
    'title', c.title,
    'description', c.description,
    'proposed_by', to_jsonb(writ_data.behind(c.created_by)),
    'risk', c.risk_level,
    'policy', jsonb_build_object(
      'version', p_policy_version,
      'sha256', encode(sha256(convert_to(p_policy::text, 'UTF8')), 'hex'),
      'quorum', p_policy #> array['approvals', c.risk_level]
    ),
    'constraints', c.constraints,
    'scope', to_jsonb(c.scope),
    'steps', c.steps,
    'template', c.template,
    'pre_state', p_state,
    'not_after', writ_data.document_time(c.not_after)
  );
end;
