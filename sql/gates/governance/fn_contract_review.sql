-- What somebody says about a contract: APPROVE (p_hash as the preview showed it, p_signature over its 32 bytes, both in hexadecimal), REJECT with a reason, REQUEST_CLARIFICATION, which stops the clock of the review, CLARIFY, which starts it again, ESCALATE, SUBMIT
-- (validated and qualified once more). Whoever proposed it does not approve it, and only persons do. When as many have approved the same hash as its risk asks for, it is APPROVED, and its window begins. Answers {contract_id, status, approvals, approvals_needed}.
-- Callers: writ_principal, writ_server
create or replace function writ.fn_contract_review(p_key text, p_contract_id uuid, p_action text, p_reason text default null, p_hash text default null, p_signature text default null) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := writ.now(); c writ_data.contract; m record; v_needed integer; v_by text[]; v_policy record; v_right text := case when p_action in ('APPROVE', 'REJECT', 'REQUEST_CLARIFICATION', 'ESCALATE') then 'approve' else 'propose' end;
begin
  select * into c from writ_data.contract where contract_id = p_contract_id and writ_data.visible(tenant_id) for no key update;
  if not found then
    return writ_data.refusal('contract_not_found', p_contract_id::text);
  end if;
  m := writ_data.may(p_key, v_right, c.tenant_id);
  if m.refusal is not null then
    return m.refusal;
  elsif p_action not in ('APPROVE', 'REJECT', 'REQUEST_CLARIFICATION', 'CLARIFY', 'ESCALATE', 'SUBMIT') then
    return writ_data.refusal('invalid_argument', 'APPROVE, REJECT, REQUEST_CLARIFICATION, CLARIFY, ESCALATE or SUBMIT.');
  elsif c.status in ('COMPLETED', 'FAILED', 'REJECTED', 'EXPIRED') then
    return writ_data.refusal('contract_terminal', format('It is %s.', c.status));
  elsif c.status in ('APPROVED', 'ACTIVE') or p_action = 'APPROVE' and c.status <> 'ELIGIBLE' then
    return writ_data.refusal('invalid_transition', format('It is %s.', c.status));
  elsif p_action in ('SUBMIT', 'ESCALATE') and c.status in ('DRAFT', 'VALIDATED') and c.template is null and (writ_data.wrong_with(c.tenant_id, c.scope, c.steps)).code is null and writ_data.old_value_conflict(c.tenant_id, c.steps) is not null then
    return writ_data.refusal('pre_value_conflict', writ_data.old_value_conflict(c.tenant_id, c.steps));
  elsif p_action = 'REJECT' and length(coalesce(btrim(p_reason), '')) <= 10 then
    return writ_data.refusal('reason_required', 'More than ten characters, for whoever proposed it.');
  elsif p_action = 'APPROVE' and c.created_by = (m.who).principal_id or p_action = 'APPROVE' and c.on_behalf_of = (m.who).principal_id then
    return writ_data.deny(m.who, 'approve', c.tenant_id, 'own_contract', format('%s has proposed it, or it was proposed on their behalf.', (m.who).principal_id), v_now);
  elsif p_action = 'APPROVE' and (c.approval_hash is null or lower(p_hash) is distinct from encode(c.approval_hash, 'hex')) then
    return writ_data.refusal('approval_void', 'This is not what would be done now: look at the preview again.');
  elsif p_action = 'APPROVE' and coalesce(p_signature, '') !~* '^[0-9a-f]{128}$' then
    return writ_data.refusal('invalid_argument', 'An approval is signed: 64 bytes in hexadecimal.');
  elsif p_action = 'APPROVE' and c.approval_hash <> writ_data.approval_hash(c.contract_id, c.content, c.policy_version, c.pre_state) then
    return writ_data.refusal('approval_void', 'The contract is not what its preview showed.');
  end if;
  v_policy := writ_data.governance_policy_of(c.tenant_id);
  if p_action = 'SUBMIT' then
    perform writ_data.submit_contract(p_contract_id, (m.who).principal_id, v_now);
  else
    insert into writ_data.contract_review (contract_id, review_no, action, by, reason, hash, signature, public_key, at)
    select p_contract_id, coalesce(max(r.review_no), 0) + 1, p_action, (m.who).principal_id, left(p_reason, 4000), case when p_action = 'APPROVE' then c.approval_hash end, case when p_action = 'APPROVE' then decode(p_signature, 'hex') end,
      case when p_action = 'APPROVE' then (m.who).public_key end, v_now
    from writ_data.contract_review r where r.contract_id = p_contract_id
    on conflict do nothing;
    if found then
      perform writ_data.contract_receipt(p_contract_id, case when p_action = 'REJECT' then 'refuse' else 'accept' end, 'contract_reviewed', jsonb_build_object('action', p_action, 'by', (m.who).principal_id, 'why', left(p_reason, 1000),
        'approval_hash', case when p_action = 'APPROVE' then encode(c.approval_hash, 'hex') end, 'signature', case when p_action = 'APPROVE' then lower(p_signature) end, 'public_key', case when p_action = 'APPROVE' then encode((m.who).public_key, 'hex') end), v_now);
      perform writ_data.record('fn_contract_review', (m.who).principal_id, v_now, array[p_contract_id], array['governance.contract_reviewed'], array[1], array[1], jsonb_build_object('action', p_action));
    end if;
  end if;
  case p_action
    when 'REJECT' then
      perform writ_data.move_contract(p_contract_id, 'REJECTED', btrim(p_reason), (m.who).principal_id, v_now);
    when 'REQUEST_CLARIFICATION' then
      update writ_data.contract set clock_stopped_at = coalesce(clock_stopped_at, v_now), due_at = null where contract_id = p_contract_id;
    when 'CLARIFY' then
      update writ_data.contract set review_due_at = review_due_at + (v_now - clock_stopped_at), expires_at = expires_at + (v_now - clock_stopped_at), due_at = coalesce(review_due_at + (v_now - clock_stopped_at) - interval '2 days', expires_at + (v_now - clock_stopped_at)), clock_stopped_at = null
      where contract_id = p_contract_id and clock_stopped_at is not null;
    when 'ESCALATE' then
      update writ_data.contract set escalated_by = (m.who).principal_id where contract_id = p_contract_id;
      perform writ_data.raise_alert('CONTRACT_ESCALATED', 'P2', c.tenant_id, 'contract/' || p_contract_id, jsonb_build_object('title', c.title, 'by', (m.who).principal_id), (m.who).principal_id, v_now);
      if c.status in ('DRAFT', 'VALIDATED') then
        perform writ_data.submit_contract(p_contract_id, (m.who).principal_id, v_now);
      end if;
    when 'APPROVE' then
      v_needed := (v_policy.document #>> array['approvals', c.risk_level])::integer;
      v_by := array(select r.by from writ_data.contract_review r where r.contract_id = p_contract_id and r.action = 'APPROVE' and r.hash = c.approval_hash order by r.review_no);
      if cardinality(v_by) >= v_needed and (c.risk_level <> 'critical' or c.escalated_by is not null) then
        update writ_data.contract set approved_by = v_by, approved_at = v_now, window_start = v_now, window_end = v_now + coalesce((template ->> 'expires_in_sec')::integer * interval '1 second', window_hours * interval '1 hour'),
          due_at = v_now + coalesce((template ->> 'expires_in_sec')::integer * interval '1 second', window_hours * interval '1 hour') where contract_id = p_contract_id;
        perform writ_data.move_contract(p_contract_id, 'APPROVED', 'approved by ' || array_to_string(v_by, ', '), (m.who).principal_id, v_now);
      end if;
    else
  end case;
  if p_action in ('APPROVE', 'REJECT') and v_now >= c.review_due_at - interval '2 days' then
    -- Somebody has decided: what was raised because nobody had is over.
    perform writ_data.clear_alert(a, 'contract/' || p_contract_id, (m.who).principal_id, v_now) from unnest('{REVIEW_LATE,REVIEW_ESCALATED}'::text[]) a where (select x.status from writ_data.contract x where x.contract_id = p_contract_id) <> 'ELIGIBLE';
  end if;
  select * into c from writ_data.contract where contract_id = p_contract_id;
  return jsonb_strip_nulls(jsonb_build_object('contract_id', p_contract_id, 'status', c.status, 'status_reason', c.status_reason, 'eligibility_verdict', c.eligibility_verdict, 'approvals_needed', v_policy.document #> array['approvals', c.risk_level],
    'approvals', coalesce((select jsonb_agg(r.by order by r.review_no) from writ_data.contract_review r where r.contract_id = p_contract_id and r.action = 'APPROVE' and r.hash = c.approval_hash), '[]'), 'window_end', c.window_end));
end $$;
