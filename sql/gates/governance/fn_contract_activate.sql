-- gate: workflow_admin, dot_executor
-- Activates an approved contract: exactly one governance job comes of it. p_read: what stands in places outside the database. What is no longer as it was approved (content, policy, pre-state) makes it FAILED, with a new draft in its place.
-- p_break_glass: a person with that right activates a contract that has not been approved by enough, with this reason; it is alerted, and stands in the receipts. p_signature, in hexadecimal: theirs over glass_hash, which workers check as they check those of approvals.
-- Answers {contract_id, job_id, run_id}.
create or replace function writ.fn_contract_activate(p_key text, p_contract_id uuid, p_read jsonb default '{}', p_break_glass text default null, p_signature text default null) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  v_now timestamptz := writ.now(); c writ_data.contract; m record; v_state jsonb; v_policy record; v_right text := 'activate'; v_hash bytea;
begin
  select * into c from writ_data.contract where contract_id = p_contract_id and writ_data.visible(tenant_id) for no key update;
  if not found then
    return writ_data.refusal('contract_not_found', p_contract_id::text);
  end if;
  if p_break_glass is not null then
    v_right := 'break_glass';
  end if;
  m := writ_data.may(p_key, v_right, c.tenant_id);
  if m.refusal is not null then
    return m.refusal;
  elsif c.status in ('ACTIVE', 'COMPLETED') or c.job_id is not null then
    return writ_data.refusal('already_activated', c.job_id::text);
  elsif c.status in ('FAILED', 'REJECTED', 'EXPIRED') then
    return writ_data.refusal('contract_terminal', format('It is %s.', c.status));
  elsif c.template is not null then
    return writ_data.refusal('invalid_transition', 'It is a template: its instances are activated.');
  elsif p_break_glass is not null and length(btrim(p_break_glass)) <= 10 then
    return writ_data.refusal('reason_required', 'More than ten characters, for those who will ask.');
  elsif length(btrim(p_break_glass)) > 1000 or p_break_glass is not null and coalesce(p_signature, '') !~* '^[0-9a-f]{128}$' then
    return writ_data.refusal('invalid_argument', 'Who breaks the glass signs for it, in 64 bytes in hexadecimal, with a reason of 1000 characters at most.');
  elsif p_break_glass is null and c.status <> 'APPROVED' or p_break_glass is not null and c.status not in ('ELIGIBLE', 'APPROVED') then
    return writ_data.refusal('invalid_transition', format('It is %s.', c.status));
  end if;
  if p_break_glass is not null and writ_data.old_value_conflict(c.tenant_id, c.steps) is not null then
    return writ_data.refusal('pre_value_conflict', writ_data.old_value_conflict(c.tenant_id, c.steps)); -- of what was approved the whole pre-state is compared
  elsif p_break_glass is not null then
    v_policy := writ_data.governance_policy_of(c.tenant_id); v_hash := writ_data.glass_hash(p_contract_id, c.content, btrim(p_break_glass));
    v_state := writ_data.state_of(c.tenant_id, c.steps, p_read);
    update writ_data.contract set glass_broken = btrim(p_break_glass), pre_state = v_state::text, policy_version = v_policy.version, approval_hash = writ_data.approval_hash(contract_id, content, v_policy.version, v_state::text),
      approved_at = v_now, window_start = v_now, window_end = v_now + window_hours * interval '1 hour' where contract_id = p_contract_id;
    insert into writ_data.contract_review (contract_id, review_no, action, by, reason, hash, signature, public_key, at)
    select p_contract_id, coalesce(max(r.review_no), 0) + 1, 'BREAK_GLASS', (m.who).principal_id, btrim(p_break_glass), v_hash, decode(p_signature, 'hex'), (m.who).public_key, v_now from writ_data.contract_review r where r.contract_id = p_contract_id;
    perform writ_data.contract_receipt(p_contract_id, 'accept', 'contract_reviewed', jsonb_build_object('action', 'BREAK_GLASS', 'by', (m.who).principal_id, 'why', btrim(p_break_glass),
      'approval_hash', encode(v_hash, 'hex'), 'signature', lower(p_signature), 'public_key', encode((m.who).public_key, 'hex')), v_now);
    perform writ_data.raise_alert('GLASS_BROKEN', 'P1', c.tenant_id, 'contract/' || p_contract_id, jsonb_build_object('by', (m.who).principal_id, 'reason', btrim(p_break_glass)), (m.who).principal_id, v_now);
    if c.status = 'ELIGIBLE' then
      perform writ_data.move_contract(p_contract_id, 'APPROVED', 'the glass was broken', (m.who).principal_id, v_now);
    end if;
  elsif v_now not between c.window_start and c.window_end then
    perform writ_data.void_contract(p_contract_id, 'window_elapsed', (m.who).principal_id, v_now);
    return writ_data.refusal('window_elapsed', format('Its window ended %s.', c.window_end));
  end if;
  return writ_data.activate_contract(p_contract_id, p_read, (m.who).principal_id, v_now);
end $$;
