-- Reviews a contract: APPROVE (p_hash as the preview showed it, p_signature over its 32 bytes, both
-- in hexadecimal), REJECT with a reason, REQUEST_CLARIFICATION, which stops the clock of the review,
-- CLARIFY, which starts it again, ESCALATE, SUBMIT (validated and qualified once more).
-- Callers: writ_principal, writ_server
-- p_read: for APPROVE, {slot: value} that stands outside the database, as the preview was given it.
-- Answers: {contract_id, status, status_reason, eligibility_verdict, approvals, approvals_needed,
--          window_end}. When as many persons have approved the same hash as its risk asks for, it is
--          APPROVED, and its window begins.
-- Refuses: contract_not_found, contract_terminal, invalid_transition, invalid_argument,
--          pre_value_conflict, reason_required, own_contract, target_not_read, approval_void, and
--          what may() refuses (right: approve; to clarify and submit: propose).
-- Locks:   the contract.
create or replace function writ.fn_contract_review(
  p_key text,
  p_contract_id uuid,
  p_action text,
  p_reason text default null,
  p_hash text default null,
  p_signature text default null,
  p_read jsonb default '{}'
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
      'APPROVE', 'REJECT', 'REQUEST_CLARIFICATION', 'CLARIFY', 'ESCALATE', 'SUBMIT'
    ) then writ_data.refusal('invalid_argument',
      'APPROVE, REJECT, REQUEST_CLARIFICATION, CLARIFY, ESCALATE or SUBMIT.')
    when c.status in ('COMPLETED', 'FAILED', 'REJECTED', 'EXPIRED')
      then writ_data.refusal('contract_terminal', format('It is %s.', c.status))
    when c.status in ('APPROVED', 'ACTIVE') or v_approves and c.status <> 'ELIGIBLE'
      then writ_data.refusal('invalid_transition', format('It is %s.', c.status))
    when p_action = 'REJECT' and length(coalesce(btrim(p_reason), '')) <= 10
      then writ_data.refusal('reason_required', 'More than ten characters, for its proposer.')
  end;
  if v_refusal is not null then
    return v_refusal;
  elsif p_action in ('SUBMIT', 'ESCALATE') and c.status in ('DRAFT', 'VALIDATED')
    and c.template is null
    and (writ_data.wrong_with(c.tenant_id, c.scope, c.steps)).code is null
    and writ_data.old_value_conflict(c.tenant_id, c.steps) is not null
  then
    return writ_data.refusal(
      'pre_value_conflict', writ_data.old_value_conflict(c.tenant_id, c.steps)
    );
  elsif v_approves and v_who in (c.created_by, c.on_behalf_of) then
    return writ_data.deny(
      m.who, 'approve', c.tenant_id, 'own_contract',
      format('%s has proposed it, or it was proposed on their behalf.', v_who), v_now
    );
  elsif v_approves then
    v_refusal := writ_data.fix_approval(c, v_policy.version, p_hash, p_signature, p_read);
    if v_refusal is not null then
      return v_refusal;
    end if;
    select * into c from writ_data.contract where contract_id = p_contract_id;
  end if;

  -- Write down what was said.

  if p_action = 'SUBMIT' then
    perform writ_data.submit_contract(p_contract_id, v_who, v_now);
  else
    insert into writ_data.contract_review (
      contract_id, review_no, action, by, reason, hash, signature, public_key, at
    )
    select
      p_contract_id, coalesce(max(r.review_no), 0) + 1, p_action, v_who, left(p_reason, 4000),
      case when v_approves then c.approval_hash end,
      case when v_approves then decode(p_signature, 'hex') end,
      case when v_approves then (m.who).public_key end,
      v_now
    from writ_data.contract_review r
    where r.contract_id = p_contract_id
    on conflict do nothing;
    if found then
      perform writ_data.contract_receipt(
        p_contract_id, case when p_action = 'REJECT' then 'refuse' else 'accept' end,
        'contract_reviewed',
        jsonb_build_object(
          'action', p_action, 'by', v_who, 'why', nullif(left(p_reason, 1000), ''),
          'approval_hash', case when v_approves then encode(c.approval_hash, 'hex') end,
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
    end if;
  end if;

  -- Move the contract, and answer.

  perform writ_data.follow_review(c, p_action, p_reason, v_policy.document, v_who, v_now);
  select * into c from writ_data.contract where contract_id = p_contract_id;
  return jsonb_strip_nulls(jsonb_build_object(
    'contract_id', p_contract_id, 'status', c.status, 'status_reason', c.status_reason,
    'eligibility_verdict', c.eligibility_verdict,
    'approvals_needed', v_policy.document #> array['approvals', c.risk_level],
    'approvals', coalesce(
      (
        select jsonb_agg(r.by order by r.review_no) from writ_data.contract_review r
        where r.contract_id = p_contract_id and r.action = 'APPROVE' and r.hash = c.approval_hash
      ),
      '[]'
    ),
    'window_end', c.window_end
  ));
end $$;
