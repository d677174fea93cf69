-- Shows what a contract would change as things stand now, step by step, how each step is undone, and
-- the hash that an approval signs. It writes nothing and takes no lock.
-- Callers: writ_principal, writ_server
-- p_read: {slot: value} that stands outside the database.
-- Answers: {contract_id, status, title, risk_level, created_by, scope, template, steps: [{step_no,
--          step_type, target, parameters, slot, before, after, undo}], pre_state, policy_version,
--          scope_hash, hash, approvals_needed, approvals}. If something changes after it, the hash
--          is another one, and approvals of the old one no longer count.
-- Refuses: not_authenticated, contract_not_found, target_not_read, pre_value_conflict.
create or replace function writ.fn_contract_preview(
  p_key text,
  p_contract_id uuid,
  p_read jsonb default '{}'
) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_who writ_data.principal;
  c writ_data.contract;
  v_open boolean;       -- it can still be approved
  v_state jsonb;
  v_missing text;
  v_conflict text;
  v_policy record;
  v_hash bytea;
  v_steps jsonb;
begin
  select * into v_who from writ_data.principal_of(p_key);
  if v_who.principal_id is null then
    return writ_data.refusal('not_authenticated');
  end if;
  select * into c
  from writ_data.contract
  where contract_id = p_contract_id and writ_data.visible(tenant_id)
    and tenant_id = coalesce(v_who.tenant_id, tenant_id);
  if not found then
    return writ_data.refusal('contract_not_found', p_contract_id::text);
  end if;
  v_open := c.status in ('DRAFT', 'VALIDATED', 'ELIGIBLE');

  -- A template is approved for a range of states.
  v_state := case
    when c.template is not null then '{}'
    else writ_data.state_of(c.tenant_id, c.steps, p_read)
  end;
  select string_agg(distinct s.slot, ', ')
  into v_missing
  from writ_data.slots(c.steps) s
  where c.template is null and not v_state ? s.slot;
  if v_missing is not null then
    return writ_data.refusal('target_not_read', v_missing);
  elsif v_open and c.template is null then
    v_conflict := writ_data.old_value_conflict(c.tenant_id, c.steps);
    if v_conflict is not null then
      return writ_data.refusal('pre_value_conflict', v_conflict);
    end if;
  end if;
  v_policy := writ_data.governance_policy_of(c.tenant_id);
  v_hash := case
    when v_open
      then writ_data.approval_hash(c.contract_id, c.content, v_policy.version, v_state::text)
    else c.approval_hash
  end;

  select jsonb_agg(
    jsonb_build_object(
      'step_no', e.n, 'step_type', e.step ->> 'step_type', 'target', e.step ->> 'target',
      'parameters', e.step -> 'parameters'
    ) || case
      when s.slot is null then '{}'::jsonb
      else jsonb_build_object(
        'slot', s.slot, 'before', b.value, 'after', s.value,
        'undo', jsonb_build_object('restore', b.value)
      )
    end order by e.n
  )
  into v_steps
  from jsonb_array_elements(c.steps) with ordinality e(step, n)
  left join writ_data.slots(c.steps) s on s.step_no = e.n
  left join lateral (
    select coalesce(
      (
        select x.value from writ_data.slots(c.steps) x
        where x.slot = s.slot and x.step_no < e.n
        order by x.step_no desc limit 1
      ),
      v_state -> s.slot
    ) as value
  ) b on true;
  return jsonb_build_object(
    'contract_id', c.contract_id, 'status', c.status, 'title', c.title,
    'risk_level', c.risk_level, 'created_by', c.created_by, 'scope', to_jsonb(c.scope),
    'template', c.template, 'steps', v_steps, 'pre_state', v_state,
    'policy_version', v_policy.version, 'scope_hash', encode(c.scope_hash, 'hex'),
    'hash', encode(v_hash, 'hex'),
    'approvals_needed', v_policy.document #> array['approvals', c.risk_level],
    'approvals', coalesce(
      (
        select jsonb_agg(r.by order by r.review_no) from writ_data.contract_review r
        where r.contract_id = c.contract_id and r.action = 'APPROVE' and r.hash = v_hash
      ),
      '[]'
    )
  );
end $$;
