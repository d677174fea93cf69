-- Reviews a contract: APPROVE (p_document: the bytes that the client has shown and signed;
-- p_signature: over the 32 bytes of their SHA-256, in hexadecimal), REVOKE, by an approver and
-- before the activation, REJECT with a reason, REQUEST_CLARIFICATION, which stops the clock of the
-- review, CLARIFY, which starts it again, ESCALATE, SUBMIT (validates and qualifies a contract that
-- is not eligible yet).
-- Callers: writ_principal, writ_server
-- Answers: {contract_id, status, status_reason, eligibility_verdict, approvals, approvals_needed,
--          window_end, review_no, applier}. An approval counts when an applier has verified its
--          signature, which a queue job asks for (fn_signatures_verified): approvals are those that
--          count. applier: whether one runs that verifies.
-- Refuses: contract_not_found, contract_terminal, invalid_transition, invalid_argument,
--          invalid_document, pre_value_conflict, reason_required, own_contract, target_not_read,
--          approval_void, approval_missing, and what may() refuses (right: approve; to clarify and
--          submit: propose, and an agent does so for its own contracts only).
-- Locks:   the contract.
create or replace function writ.fn_contract_review(
  p_key text,
  p_contract_id uuid,
  p_action text,
  p_reason text default null,
  p_document text default null,
  p_signature text default null,
  p_scheme text default 'ed25519'
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  c writ_data.contract;
  m record;
  v_who text;
  v_policy record;
  v_refusal jsonb;
  v_approves boolean := coalesce(p_action, '') = 'APPROVE';
  v_no integer;  -- of this review
begin
  -- Lock, then check.

  select * into c
  from writ_data.contract
  where contract_id = p_contract_id and writ_data.visible(tenant_id)
  for no key update;
  if not found then
    return writ_data.refusal('contract_not_found', p_contract_id::text);
  end if;
  m := writ_data.may(
    p_key,
    case when p_action in ('CLARIFY', 'SUBMIT') then 'propose' else 'approve' end,
    c.tenant_id
  );
  v_who := (m.who).principal_id;
  v_policy := writ_data.governance_policy_of(c.tenant_id);
  v_refusal := case
    when m.refusal is not null then m.refusal
    when coalesce(p_action, '') not in (
      'APPROVE', 'REVOKE', 'REJECT', 'REQUEST_CLARIFICATION', 'CLARIFY', 'ESCALATE', 'SUBMIT'
    ) then writ_data.refusal('invalid_argument',
      'APPROVE, REVOKE, REJECT, REQUEST_CLARIFICATION, CLARIFY, ESCALATE or SUBMIT.')
    when c.status in ('COMPLETED', 'FAILED', 'REJECTED', 'EXPIRED')
      then writ_data.refusal('contract_terminal', format('It is %s.', c.status))
    when c.status = 'ACTIVE' or c.status = 'APPROVED' and p_action <> 'REVOKE'
      or p_action in ('APPROVE', 'REVOKE') and c.status not in ('ELIGIBLE', 'APPROVED')
      then writ_data.refusal('invalid_transition', format('It is %s.', c.status))
    when p_action = 'REVOKE' and not exists (
      select from writ_data.contract_review r
      where r.contract_id = p_contract_id and r.by = v_who and r.action = 'APPROVE'
        and r.hash = c.approval_hash
    ) then writ_data.refusal('approval_missing', format('%s has not approved it.', v_who))
    when p_action = 'SUBMIT' and c.status = 'ELIGIBLE'
      then writ_data.refusal('invalid_transition', 'It is ELIGIBLE.')
    when p_action = 'CLARIFY' and c.clock_stopped_at is null
      then writ_data.refusal('invalid_transition', 'Nobody waits for a clarification.')
    when p_action = 'REJECT' and length(coalesce(btrim(p_reason), '')) <= 10
      then writ_data.refusal('reason_required', 'More than ten characters, for its proposer.')
  end;
  if v_refusal is not null then
    return v_refusal;
  elsif (m.who).kind = 'agent' and v_who <> c.created_by then
    return writ_data.deny(
      m.who, 'propose', c.tenant_id, 'agents_only_propose',
      format('%s submits and clarifies its own contracts only.', v_who), v_now
    );
  elsif p_action in ('SUBMIT', 'ESCALATE') and c.status in ('DRAFT', 'VALIDATED')
    and c.template is null
    and (
      writ_data.wrong_with(c.tenant_id, c.scope, c.steps, c.template, c.constraints)
    ).code is null
    and writ_data.old_value_conflict(c.tenant_id, c.steps) is not null
  then
    return writ_data.refusal(
      'pre_value_conflict', writ_data.old_value_conflict(c.tenant_id, c.steps)
    );
  elsif v_approves and v_who = any (writ_data.behind(c.created_by)) then
    return writ_data.deny(
      m.who, 'approve', c.tenant_id, 'own_contract',
      format('%s has proposed it, or it was proposed on their behalf.', v_who), v_now
    );
  elsif v_approves then
    v_refusal := writ_data.fix_approval(c, p_document, p_signature, p_scheme, v_now);
    if v_refusal is not null then
      return v_refusal;
    end if;
    select * into c from writ_data.contract where contract_id = p_contract_id;
  end if;

  -- Store the review.

  if p_action = 'SUBMIT' then
    perform writ_data.submit_contract(p_contract_id, v_who, v_now);
  else
    insert into writ_data.contract_review (
      contract_id, review_no, action, by, reason, hash, scheme, signature, public_key, at
    )
    select
      p_contract_id, coalesce(max(r.review_no), 0) + 1, p_action, v_who, left(p_reason, 4000),
      case when p_action in ('APPROVE', 'REVOKE') then c.approval_hash end,
      case when v_approves then p_scheme end,
      case when v_approves then decode(p_signature, 'hex') end,
      case when v_approves then (m.who).public_key end,
      v_now
    from writ_data.contract_review r
    where r.contract_id = p_contract_id
    on conflict do nothing
    returning review_no into v_no;
    if v_no is not null then
      perform writ_data.contract_receipt(
        p_contract_id, case when p_action = 'REJECT' then 'refuse' else 'accept' end,
        'contract_reviewed',
        jsonb_build_object(
          'action', p_action, 'by', v_who, 'why', nullif(left(p_reason, 1000), ''),
          'approval_hash', case when p_action in ('APPROVE', 'REVOKE')
            then encode(c.approval_hash, 'hex') end,
          'round', case when p_action in ('APPROVE', 'REVOKE') then c.round end,
          'scheme', case when v_approves then p_scheme end,
          'signature', case when v_approves then lower(p_signature) end,
          'public_key', case when v_approves then encode((m.who).public_key, 'hex') end
        ),
        v_now
      );
      perform writ_data.record(
        'fn_contract_review', v_who, v_now, array[p_contract_id],
        array['governance.contract_reviewed'], array[1], array[1],
        jsonb_build_object('action', p_action)
      );
      if v_approves then
        perform writ_data.enqueue_verification(c, v_who);
      end if;
    elsif v_approves then
      select r.review_no
      into v_no
      from writ_data.contract_review r
      where r.contract_id = p_contract_id and r.by = v_who and r.hash = c.approval_hash
        and r.signature = decode(p_signature, 'hex') and r.action = 'APPROVE';
    end if;
  end if;

  -- Move the contract, and answer.

  perform writ_data.follow_review(c, p_action, p_reason, v_who, v_now);
  select * into c from writ_data.contract where contract_id = p_contract_id;
  return jsonb_strip_nulls(jsonb_build_object(
    'contract_id', p_contract_id, 'status', c.status, 'status_reason', c.status_reason,
    'eligibility_verdict', c.eligibility_verdict,
    'approvals_needed', v_policy.document #> array['approvals', c.risk_level],
    'approvals', to_jsonb(writ_data.approvers(c)),
    'review_no', v_no,
    'applier', case when v_approves then writ_data.kind_is_served('governance.verify') end,
    'window_end', c.window_end
  ));
end $$;
