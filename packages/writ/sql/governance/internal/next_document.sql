-- Returns the document that a signature made now signs. The first signature of a round fixes policy
-- and pre-state; while one of them is another, the next signature begins another round.
create or replace function writ_data.next_document(
  c writ_data.contract,
  p_state jsonb
) returns jsonb
language plpgsql stable
as $$
declare
  v_policy record := writ_data.governance_policy_of(c.tenant_id);
begin
  return writ_data.document_of(
    c,
    c.round + (
      c.approval_hash is not null
      and (c.pre_state::jsonb <> p_state or c.policy_version <> v_policy.version)
    )::integer,
    v_policy.version, v_policy.document, p_state
  );
end $$;
