-- Compares the document that a principal has signed with what a contract would do now, field by
-- field, keeps its bytes, and fixes round, pre-state and policy version in the row. Approvals of
-- another document no longer count then.
-- Answers null, or the refusal. The caller has locked the contract.
create or replace function writ_data.fix_approval(
  c writ_data.contract,
  p_document text,
  p_signature text,
  p_scheme text,
  p_at timestamptz
) returns jsonb
language plpgsql
as $$
declare
  v_state jsonb := '{}'::jsonb;  -- of a template, which is approved for a range of states
  v_wrong jsonb;
  v_now jsonb;            -- the document as the rows have it
begin
  v_wrong := writ_data.wrong_with_signature(p_document, p_signature, p_scheme);
  if v_wrong is not null then
    return v_wrong;
  end if;
  if c.template is null then
    v_state := writ_data.state_of(c.tenant_id, c.steps, writ_data.values_read(c));
    v_wrong := writ_data.wrong_with_state(c, v_state);
    if v_wrong is not null then
      return v_wrong;
    end if;
  end if;
  v_now := writ_data.next_document(c, v_state);
  v_wrong := writ_data.wrong_with_document(p_document, v_now);
  if v_wrong is not null then
    return v_wrong;
  end if;
  return writ_data.keep_document(c, p_document, v_now, p_at);
end $$;
