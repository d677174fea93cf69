-- Compares what an approver signs with what a contract would do now, and fixes pre-state, policy
-- version and hash in its row. Approvals of another hash no longer count then.
-- Answers null, or the refusal. The caller has locked the contract.
create or replace function writ_data.fix_approval(
  c writ_data.contract,
  p_policy integer,
  p_hash text,
  p_signature text,
  p_read jsonb
) returns jsonb
language plpgsql
as $$
declare
  v_state jsonb := '{}';  -- of a template, which is approved for a range of states
  v_missing text;
  v_conflict text;
  v_hash bytea;
begin
  if coalesce(p_signature, '') !~* '^[0-9a-f]{128}$' then
    return writ_data.refusal(
      'invalid_argument', 'An approval is signed: 64 bytes in hexadecimal.'
    );
  end if;
  if c.template is null then
    v_state := writ_data.state_of(c.tenant_id, c.steps, p_read);
    select string_agg(distinct s.slot, ', ')
    into v_missing
    from writ_data.slots(c.steps) s
    where not v_state ? s.slot;
    v_conflict := writ_data.old_value_conflict(c.tenant_id, c.steps);
    if v_missing is not null then
      return writ_data.refusal('target_not_read', v_missing);
    elsif octet_length(v_state::text) > 1048576 then
      return writ_data.refusal('target_not_read', 'What was read has more than 1 MB.');
    elsif v_conflict is not null then
      return writ_data.refusal('pre_value_conflict', v_conflict);
    end if;
  end if;

  v_hash := writ_data.approval_hash(c.contract_id, c.content, p_policy, v_state::text);
  if lower(p_hash) is distinct from encode(v_hash, 'hex') then
    return writ_data.refusal(
      'approval_void', 'This is not what would be done now: look at the preview again.'
    );
  elsif v_hash is distinct from c.approval_hash then
    update writ_data.contract
    set approval_hash = v_hash, pre_state = v_state::text, policy_version = p_policy
    where contract_id = c.contract_id;
  end if;
  return null;
end $$;
