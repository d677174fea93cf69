-- Whether whoever has this key may activate a contract, which is locked here, and breaks the glass if that is asked for. Answers who it is, or, if that is all, the answer: a refusal, or the job, if this call was answered before.
create or replace function writ_data.ready_to_activate(p_key text, p_contract uuid, p_job uuid, p_read jsonb, p_break_glass text, p_signature text, p_at timestamptz, out actor text, out answer jsonb) language plpgsql as $$
declare
  c writ_data.contract; m record; v_state jsonb; v_policy record; v_right text := 'activate'; v_hash bytea;
begin
  select * into c from writ_data.contract where contract_id = p_contract and writ_data.visible(tenant_id) for no key update;
  if not found then
    answer := writ_data.refusal('contract_not_found', p_contract::text);
    return;
  end if;
  if p_break_glass is not null then
    v_right := 'break_glass';
  end if;
  m := writ_data.may(p_key, v_right, c.tenant_id);
  actor := (m.who).principal_id;
  answer := case
    when m.refusal is not null then m.refusal
    when c.job_id = p_job then jsonb_build_object('contract_id', p_contract, 'job_id', p_job, 'run_id', (select g.run_id from writ_data.governance_job g where g.job_id = p_job))
    when c.status in ('ACTIVE', 'COMPLETED') or c.job_id is not null then writ_data.refusal('already_activated', c.job_id::text)
    when c.status in ('FAILED', 'REJECTED', 'EXPIRED') then writ_data.refusal('contract_terminal', format('It is %s.', c.status))
    when c.template is not null then writ_data.refusal('invalid_transition', 'It is a template: its instances are activated.')
    when p_break_glass is not null and length(btrim(p_break_glass)) <= 10 then writ_data.refusal('reason_required', 'More than ten characters, for those who will ask.')
    when length(btrim(p_break_glass)) > 1000 or p_break_glass is not null and coalesce(p_signature, '') !~* '^[0-9a-f]{128}$' then writ_data.refusal('invalid_argument', 'Who breaks the glass signs for it, in 64 bytes in hexadecimal, with a reason of 1000 characters at most.')
    when p_break_glass is null and c.status <> 'APPROVED' or p_break_glass is not null and c.status not in ('ELIGIBLE', 'APPROVED') then writ_data.refusal('invalid_transition', format(case when c.status = 'ELIGIBLE' then 'It is %s: not enough have approved it.' when c.status in ('DRAFT', 'VALIDATED') then 'It is %s: it has to be submitted and approved first.' else 'It is %s.' end, c.status)) end;
  if answer is not null then
    return;
  elsif p_break_glass is not null then
    v_policy := writ_data.governance_policy_of(c.tenant_id); v_hash := writ_data.glass_hash(p_contract, c.content, btrim(p_break_glass));
    v_state := writ_data.state_of(c.tenant_id, c.steps, p_read);
    -- Of what was approved the whole pre-state is compared.
    answer := coalesce((select writ_data.refusal('target_not_read', string_agg(s.slot, ', ')) from writ_data.slots(c.steps) s where not v_state ? s.slot having count(*) > 0),
      case when octet_length(v_state::text) > 1048576 then writ_data.refusal('target_not_read', 'What was read has more than 1 MB.') end,
      (select writ_data.refusal('pre_value_conflict', x) from writ_data.old_value_conflict(c.tenant_id, c.steps) x where x is not null));
    if answer is not null then
      return;
    end if;
    update writ_data.contract set glass_broken = btrim(p_break_glass), pre_state = v_state::text, policy_version = v_policy.version, approval_hash = writ_data.approval_hash(contract_id, content, v_policy.version, v_state::text),
      approved_at = p_at, window_start = p_at, window_end = p_at + window_hours * interval '1 hour' where contract_id = p_contract;
    insert into writ_data.contract_review (contract_id, review_no, action, by, reason, hash, signature, public_key, at)
    select p_contract, coalesce(max(r.review_no), 0) + 1, 'BREAK_GLASS', actor, btrim(p_break_glass), v_hash, decode(p_signature, 'hex'), (m.who).public_key, p_at from writ_data.contract_review r where r.contract_id = p_contract;
    perform writ_data.contract_receipt(p_contract, 'accept', 'contract_reviewed', jsonb_build_object('action', 'BREAK_GLASS', 'by', actor, 'why', btrim(p_break_glass),
      'approval_hash', encode(v_hash, 'hex'), 'signature', lower(p_signature), 'public_key', encode((m.who).public_key, 'hex')), p_at);
    perform writ_data.raise_alert('GLASS_BROKEN', 'P1', c.tenant_id, 'contract/' || p_contract, jsonb_build_object('by', actor, 'reason', btrim(p_break_glass)), actor, p_at);
    if c.status = 'ELIGIBLE' then
      perform writ_data.move_contract(p_contract, 'APPROVED', 'the glass was broken', actor, p_at);
    end if;
  elsif p_at not between c.window_start and c.window_end then
    perform writ_data.void_contract(p_contract, 'window_elapsed', actor, p_at);
    answer := writ_data.refusal('window_elapsed', format('Its window ended %s.', c.window_end));
  end if;
end $$;
