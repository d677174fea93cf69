-- Activates an instance of an approved template, if its parameters and the current values are
-- within the template's bounds, the template has activations left, and its cooldown is over. The
-- instance moves from DRAFT to ACTIVE in this call, under the template's approval.
-- Callers: writ_principal, writ_applier, writ_server
-- p_id:    the instance's id, which makes a repeated call safe.
-- Answers: {contract_id, job_id, run_id, duplicate}.
-- Refuses: contract_not_found, contract_exists, invalid_transition, approval_void, window_elapsed,
--          template_exhausted, template_cooling_down, out_of_bounds, target_not_read,
--          stale_pre_value, pre_value_conflict, invalid_contract, value_not_canonical,
--          not_eligible, what an activation refuses (activate_contracts), and what may() refuses
--          (right: activate).
-- Locks:   the template, then its targets' holds.
create or replace function writ.fn_template_activate(
  p_key text,
  p_template_id uuid,
  p_params jsonb,
  p_content text,
  p_id uuid default null
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  v_id uuid := coalesce(p_id, writ_data.uuidv7());
  t writ_data.contract;       -- the template
  c writ_data.contract;       -- the instance
  m record;
  v_who text;
  v_window interval;          -- in which the instance begins and ends
  v_bounds jsonb;
  v_last timestamptz;         -- when it was activated last
  v_n integer;                -- how often it was
  v_state jsonb;
  v_steps jsonb;
  v_conflict text;
  v_wrong text;
  v_rules jsonb;
  v_failed text;
  v_move text;
begin
  -- Lock, then check.

  select * into t
  from writ_data.contract
  where contract_id = p_template_id and template is not null and writ_data.visible(tenant_id)
  for no key update;
  if not found then
    return writ_data.refusal('contract_not_found', p_template_id::text);
  end if;
  m := writ_data.may(p_key, 'activate', t.tenant_id);
  if m.refusal is not null then
    return m.refusal;
  elsif octet_length(p_content) > 262144 or octet_length(p_params::text) > 65536 then
    return writ_data.refusal(
      'invalid_contract', 'Scope and steps have 256 KB at most, parameters 64 KB.'
    );
  end if;
  v_wrong := writ_data.inexact_number(p_params);
  if v_wrong is not null then
    return writ_data.refusal('value_not_canonical', v_wrong);
  end if;
  v_who := (m.who).principal_id;
  v_window := interval '1 hour'
    + writ_data.job_limit_ms(t.constraints) * interval '1 millisecond';
  select * into c from writ_data.contract where contract_id = v_id;
  if found and c.template_id = p_template_id and c.template_params = p_params then
    return jsonb_build_object(
      'contract_id', v_id, 'job_id', c.job_id,
      'run_id', (select g.run_id from writ_data.governance_job g where g.job_id = c.job_id),
      'duplicate', true
    );
  elsif found then
    return writ_data.refusal('contract_exists', v_id::text);
  end if;

  -- Checks run in this order; the first failure is reported.

  v_bounds := coalesce(t.template -> 'params', '{}');
  v_state := writ_data.state_of(t.tenant_id, t.steps, writ_data.values_read(t));
  select max(x.created_at), count(*)
  into v_last, v_n
  from writ_data.contract x
  where x.template_id = p_template_id;
  v_wrong := case
    when t.status <> 'APPROVED' then 'invalid_transition'
    when writ_data.approved_still(t) is not null then 'approval_void'
    when v_now > least(t.window_end, t.not_after) then 'window_elapsed'
    when v_n >= (t.template ->> 'activations')::integer then 'template_exhausted'
    when v_last
      + coalesce(t.template ->> 'cooldown_sec', '0')::integer * interval '1 second' > v_now
      then 'template_cooling_down'
    when p_params - array(select jsonb_object_keys(v_bounds)) <> '{}' or exists (
      select from jsonb_each(v_bounds) b where not writ_data.within(p_params -> b.key, b.value)
    ) then 'out_of_bounds'
    when writ_data.unread_slots(t, v_state) is not null then 'target_not_read'
    when octet_length(v_state::text) > 1048576 or exists (
      select from jsonb_each(coalesce(t.template -> 'pre', '{}')) b
      where not writ_data.within(v_state -> b.key, b.value)
    ) then 'stale_pre_value'
  end;
  if v_wrong is not null then
    return writ_data.refusal(v_wrong, format('Template %s: %s.', p_template_id, case v_wrong
      when 'invalid_transition' then 'it is ' || t.status
      when 'template_exhausted' then format('it was activated %s times', v_n)
      when 'out_of_bounds' then left(p_params::text, 1000)
      when 'target_not_read' then writ_data.unread_slots(t, v_state)
      when 'stale_pre_value' then left(v_state::text, 1000)
      else v_wrong
    end));
  end if;
  v_steps := writ_data.filled(t.steps, p_params);
  v_conflict := writ_data.old_value_conflict(t.tenant_id, v_steps);
  if v_conflict is not null then
    return writ_data.refusal('pre_value_conflict', v_conflict);
  elsif p_content::jsonb is distinct from
    jsonb_build_object('scope', to_jsonb(t.scope), 'steps', v_steps)
  then
    return writ_data.refusal(
      'invalid_contract', 'The content is not that of the template with these parameters.'
    );
  end if;

  -- Write the instance, and record it.

  insert into writ_data.contract (
    contract_id, tenant_id, status, issue_id, source, title, description, content, scope_hash,
    scope, steps, risk_level, confidence, policy_version, pre_state, approval_hash, created_by,
    on_behalf_of, approved_by, approved_at, escalated_by, window_start, window_end, window_hours,
    constraints, template_id, template_params, created_at, updated_at, expires_at
  ) values (
    v_id, t.tenant_id, 'DRAFT', t.issue_id, t.source, t.title, t.description, p_content,
    sha256(convert_to(p_content, 'UTF8')), t.scope, p_content::jsonb -> 'steps', t.risk_level,
    t.confidence, t.policy_version, v_state::text, t.approval_hash, v_who,
    (m.who).on_behalf_of, t.approved_by, t.approved_at, t.escalated_by, v_now, v_now + v_window,
    extract(epoch from v_window) / 3600, t.constraints, p_template_id, p_params, v_now, v_now,
    v_now + v_window
  )
  returning * into c;
  insert into writ_data.contract_history (
    contract_id, version, from_status, to_status, reason, by, at
  ) values (v_id, 1, '', 'DRAFT', 'instance of ' || p_template_id, v_who, v_now);
  perform writ_data.contract_receipt(
    v_id, 'accept', 'contract_moved',
    jsonb_build_object(
      'to', 'DRAFT', 'why', 'instance of ' || p_template_id, 'by', v_who,
      'scope_hash', encode(c.scope_hash, 'hex')
    ),
    v_now
  );

  -- Qualify and activate it.

  v_rules := writ_data.eligibility(
    c, (writ_data.governance_policy_of(c.tenant_id)).document, v_now
  );
  select string_agg(r ->> 'rule', ', ' order by r ->> 'rule')
  into v_failed
  from jsonb_array_elements(v_rules) r
  where not (r ->> 'passed')::boolean;
  update writ_data.contract
  set
    validator_verdict = '{"valid": true}',
    eligibility_verdict = jsonb_build_object('eligible', v_failed is null, 'rules', v_rules)
  where contract_id = v_id;
  if v_failed is not null then
    perform writ_data.move_contract(v_id, 'REJECTED', 'not eligible: ' || v_failed, v_who, v_now);
    return writ_data.refusal('not_eligible', v_failed) || jsonb_build_object('contract_id', v_id);
  end if;
  foreach v_move in array array['VALIDATED', 'ELIGIBLE', 'APPROVED'] loop
    perform writ_data.move_contract(
      v_id, v_move, 'under the approval of template ' || p_template_id, v_who, v_now
    );
  end loop;
  return (writ_data.activate_contracts(
    array[v_id], array[writ_data.uuidv7()], v_who, v_now
  ))[1];
exception when check_violation or not_null_violation or data_exception then
  return writ_data.refusal('invalid_contract', sqlerrm);
end $$;
