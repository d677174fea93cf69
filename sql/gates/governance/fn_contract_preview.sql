-- What a contract would change, step by step, and how each is undone, as things stand now; and the hash that an approval signs. p_read: what stands in places outside the database, slot → value. While the contract may be approved, this is what an approval is of:
-- if something has changed since, the hash is another, and approvals of the old one no longer count. Answers {contract_id, status, scope, steps: [{step_no, step_type, target, parameters, slot, before, after, undo}], pre_state, policy_version, hash, approvals_needed, approvals}.
-- Callers: writ_principal, writ_server
create or replace function writ.fn_contract_preview(p_key text, p_contract_id uuid, p_read jsonb default '{}') returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  c writ_data.contract; v_who writ_data.principal; v_state jsonb; v_hash bytea; v_steps jsonb; v_policy record; v_missing text;
begin
  select * into v_who from writ_data.principal_of(p_key);
  if v_who.principal_id is null then
    return writ_data.refusal('not_authenticated');
  end if;
  select * into c from writ_data.contract where contract_id = p_contract_id and writ_data.visible(tenant_id) and tenant_id = coalesce(v_who.tenant_id, tenant_id) for no key update;
  if not found then
    return writ_data.refusal('contract_not_found', p_contract_id::text);
  end if;
  v_state := case when c.template is not null then '{}' else writ_data.state_of(c.tenant_id, c.steps, p_read) end; -- a template is approved for a range of states
  select string_agg(distinct s.slot, ', ') into v_missing from writ_data.slots(c.steps) s where c.template is null and not v_state ? s.slot;
  if v_missing is not null then
    return writ_data.refusal('target_not_read', v_missing);
  elsif c.status in ('DRAFT', 'VALIDATED', 'ELIGIBLE') and c.template is null and writ_data.old_value_conflict(c.tenant_id, c.steps) is not null then
    return writ_data.refusal('pre_value_conflict', writ_data.old_value_conflict(c.tenant_id, c.steps)); -- there is nothing to approve
  end if;
  v_policy := writ_data.governance_policy_of(c.tenant_id);
  if c.status in ('DRAFT', 'VALIDATED', 'ELIGIBLE') then
    v_hash := writ_data.approval_hash(c.contract_id, c.content, v_policy.version, v_state::text);
    if v_hash is distinct from c.approval_hash then
      update writ_data.contract set approval_hash = v_hash, pre_state = v_state::text, policy_version = v_policy.version where contract_id = p_contract_id;
    end if;
  else
    v_hash := c.approval_hash;
  end if;
  select jsonb_agg(jsonb_strip_nulls(jsonb_build_object('step_no', e.n, 'step_type', e.step ->> 'step_type', 'target', e.step ->> 'target', 'parameters', e.step -> 'parameters', 'slot', s.slot)) || case when s.slot is not null then jsonb_build_object(
      'before', b.value, 'after', s.value, 'undo', jsonb_build_object('restore', b.value)) else '{}' end order by e.n)
  into v_steps
  from jsonb_array_elements(c.steps) with ordinality e(step, n) left join writ_data.slots(c.steps) s on s.step_no = e.n
  left join lateral (select coalesce((select x.value from writ_data.slots(c.steps) x where x.slot = s.slot and x.step_no < e.n order by x.step_no desc limit 1), v_state -> s.slot) as value) b on true;
  return jsonb_build_object('contract_id', c.contract_id, 'status', c.status, 'title', c.title, 'risk_level', c.risk_level, 'created_by', c.created_by, 'scope', to_jsonb(c.scope), 'template', c.template, 'steps', v_steps, 'pre_state', v_state, 'policy_version', v_policy.version,
    'scope_hash', encode(c.scope_hash, 'hex'), 'hash', encode(v_hash, 'hex'), 'approvals_needed', v_policy.document #> array['approvals', c.risk_level],
    'approvals', coalesce((select jsonb_agg(r.by order by r.review_no) from writ_data.contract_review r where r.contract_id = c.contract_id and r.action = 'APPROVE' and r.hash = v_hash), '[]'));
end $$;
