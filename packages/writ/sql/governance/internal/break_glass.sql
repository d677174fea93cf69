-- Breaks the glass for a contract: keeps the document that a person has signed in place of all
-- approvals, raises an alert, and opens an incident that a second person has to resolve. Answers
-- null, or the refusal; then nothing is written. The caller has locked the contract, and checked
-- the person's right.
create or replace function writ_data.break_glass(
  c writ_data.contract,
  p_who writ_data.principal,
  p_reason text,
  p_glass jsonb,
  p_at timestamptz
) returns jsonb
language plpgsql
as $$
declare
  v_actor text := p_who.principal_id;
  v_document text := p_glass ->> 'document';
  v_scheme text := coalesce(p_glass ->> 'scheme', 'ed25519');
  v_hash bytea := sha256(convert_to(v_document, 'UTF8'));
  v_state jsonb := writ_data.state_of(c.tenant_id, c.steps, writ_data.values_read(c));
  v_wrong jsonb;
  v_ends timestamptz;  -- when the signature does
  v_now jsonb;         -- the document as the rows have it
  v_incident uuid;
begin
  -- Check.

  v_wrong := coalesce(
    writ_data.wrong_with_signature(v_document, p_glass ->> 'signature', v_scheme),
    writ_data.wrong_with_state(c, v_state)
  );
  if v_wrong is not null then
    return v_wrong;
  end if;
  begin
    v_ends := writ_data.moment(v_document::jsonb ->> 'not_after');
  exception when data_exception then
    return writ_data.refusal('invalid_document', 'It is not JSON with a time in not_after.');
  end;
  if v_ends is null or v_ends <= p_at or v_ends > p_at + interval '15 minutes' then
    return writ_data.refusal(
      'invalid_document', 'Who breaks the glass signs for at most 15 minutes from now.'
    );
  end if;
  v_now := writ_data.next_document(c, v_state) || jsonb_build_object(
    'writ', 'break glass 1', 'reason', p_reason, 'not_after', writ_data.document_time(v_ends)
  );
  v_wrong := writ_data.wrong_with_document(v_document, v_now);
  if v_wrong is not null then
    return v_wrong;
  end if;

  -- Write, and record.

  insert into writ_data.contract_document (contract_id, hash, document, kept_at)
  values (c.contract_id, v_hash, v_document, p_at)
  on conflict do nothing;
  update writ_data.contract
  set
    glass_broken = p_reason, pre_state = v_state::text, approval_hash = v_hash,
    round = (v_now ->> 'round')::integer,
    policy_version = (v_now #>> '{policy,version}')::integer,
    approved_at = p_at, window_start = p_at, window_end = p_at + window_hours * interval '1 hour'
  where contract_id = c.contract_id;
  insert into writ_data.contract_review (
    contract_id, review_no, action, by, reason, hash, scheme, signature, public_key, at
  )
  select
    c.contract_id, coalesce(max(r.review_no), 0) + 1, 'BREAK_GLASS', v_actor, p_reason, v_hash,
    v_scheme, decode(p_glass ->> 'signature', 'hex'), p_who.public_key, p_at
  from writ_data.contract_review r
  where r.contract_id = c.contract_id;
  perform writ_data.contract_receipt(
    c.contract_id, 'accept', 'contract_reviewed',
    jsonb_build_object(
      'action', 'BREAK_GLASS', 'by', v_actor, 'why', p_reason,
      'approval_hash', encode(v_hash, 'hex'), 'round', (v_now ->> 'round')::integer,
      'scheme', v_scheme, 'signature', lower(p_glass ->> 'signature'),
      'public_key', encode(p_who.public_key, 'hex')
    ),
    p_at
  );
  perform writ_data.raise_alert(
    'GLASS_BROKEN', 'P1', c.tenant_id, 'contract/' || c.contract_id,
    jsonb_build_object('by', v_actor, 'reason', p_reason), v_actor, p_at
  );
  -- Without a capability, so that the change itself is not blocked by it.
  v_incident := writ_data.open_incident(
    c.tenant_id, null, 'P1', 'contract/' || c.contract_id,
    format('%s broke the glass: %s', v_actor, p_reason), v_actor, p_at
  );
  perform writ_data.on_control_changed(
    c.tenant_id, 'incident', 'contract/' || c.contract_id, null,
    (select to_jsonb(i) from writ_data.incident i where i.incident_id = v_incident), v_actor, p_at
  );
  if c.status = 'ELIGIBLE' then
    perform writ_data.move_contract(
      c.contract_id, 'APPROVED', 'the glass was broken', v_actor, p_at
    );
  end if;
  return null;
end $$;
