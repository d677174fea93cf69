-- Proposes a contract. Stores it as a DRAFT and, unless p_about says draft, validates and qualifies
-- it in the same call.
-- Callers: writ_principal, writ_server
-- p_content: the canonical JSON {"scope": [...], "steps": [{step_type, target, parameters}, ...]},
--          with the scope sorted. Persons approve exactly these bytes. With "template" the contract
--          is a template, and fn_template_activate executes its instances.
-- p_about: {contract_id (a UUID, but not of version 8), title, description, risk_level, source,
--          confidence, issue_id, window_hours, constraints, parent_contract_id, draft}.
-- Answers: {contract_id, status, scope_hash, validator_verdict, eligibility_verdict, duplicate}.
-- Refuses: invalid_contract, invalid_template, contract_exists, pre_value_conflict,
--          forbidden_payload_key, what wrong_with() finds, what may() refuses (right: propose), and
--          proposals_limited for an agent that has proposed enough.
-- Locks:   an agent's principal, to count concurrent proposals of the agent exactly.
create or replace function writ.fn_contract_propose(
  p_key text,
  p_content text,
  p_about jsonb,
  p_tenant_id text default 'default'
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_now timestamptz := writ.now();
  m record;
  v_who text;
  v_id uuid;
  c writ_data.contract;
  v_limited jsonb;
  v_content jsonb;
  v_scope text[];
  v_draft boolean;
  v_wrong record;
  v_conflict text;
  v_policy record;
  v_window numeric;
  v_constraints jsonb;
  v_expires timestamptz;
begin
  -- Validate.

  m := writ_data.may(p_key, 'propose', p_tenant_id);
  if m.refusal is not null then
    return m.refusal;
  elsif octet_length(p_content) > 262144 then
    return writ_data.refusal('invalid_contract', 'Scope and steps have 256 KB at most.');
  elsif jsonb_typeof(p_about) is distinct from 'object' or octet_length(p_about::text) > 65536 then
    return writ_data.refusal('invalid_contract', 'What is said about it is an object of 64 KB.');
  end if;
  v_who := (m.who).principal_id;
  v_id := coalesce((p_about ->> 'contract_id')::uuid, writ_data.uuidv7());

  if substr(v_id::text, 15, 1) = '8' then
    -- A governor's action activates an instance whose id follows from the action. A proposer could
    -- otherwise take that id first, and so prevent the action.
    return writ_data.refusal(
      'invalid_contract', 'Its id is a UUID of version 8, which only instances have.'
    );
  end if;

  select * into c from writ_data.contract where contract_id = v_id;
  if found then
    if c.scope_hash <> sha256(convert_to(p_content, 'UTF8')) or c.created_by <> v_who
      or c.tenant_id <> p_tenant_id
    then
      return writ_data.refusal('contract_exists', v_id::text);
    end if;
    return jsonb_build_object(
      'contract_id', v_id, 'status', c.status, 'scope_hash', encode(c.scope_hash, 'hex'),
      'duplicate', true
    );
  end if;
  v_limited := writ_data.proposals_limited(m.who, v_now);
  if v_limited is not null then
    return v_limited;
  end if;

  v_content := p_content::jsonb;
  v_scope := array(select jsonb_array_elements_text(v_content -> 'scope'));
  v_draft := coalesce((p_about ->> 'draft')::boolean, false);
  if v_content - '{scope,steps,template}'::text[] <> '{}'
    or v_scope <> array(select distinct x collate "C" from unnest(v_scope) x order by 1)
  then
    return writ_data.refusal('invalid_contract',
      'The content has scope, sorted and without repetition, and steps; of a template also '
      'template; and nothing else.');
  elsif v_content ? 'template' and writ_data.wrong_with_template(v_content) is not null then
    return writ_data.refusal('invalid_template', writ_data.wrong_with_template(v_content));
  end if;

  v_constraints := coalesce(p_about -> 'constraints', '{}');
  if jsonb_typeof(v_constraints) <> 'object'
    or v_constraints - '{max_duration_ms,step_timeout_ms}'::text[] <> '{}'
    or exists (
      select from jsonb_each_text(v_constraints) k
      where k.value is null or k.value !~ '^[1-9][0-9]{0,7}$' or k.value::integer > 86400000
    )
  then
    return writ_data.refusal('invalid_contract',
      'The constraints are max_duration_ms and step_timeout_ms: whole numbers, a day at most.');
  end if;
  v_wrong := writ_data.wrong_with(
    p_tenant_id, v_scope, v_content -> 'steps', v_content -> 'template', v_constraints
  );
  if v_wrong.code is not null and not v_draft then
    return writ_data.refusal(v_wrong.code, v_wrong.detail);
  elsif v_wrong.code is null and not v_draft and not v_content ? 'template' then
    -- The proposer expects an old value that the target does not have.
    v_conflict := writ_data.old_value_conflict(p_tenant_id, v_content -> 'steps');
    if v_conflict is not null then
      return writ_data.refusal('pre_value_conflict', v_conflict);
    end if;
  end if;

  v_policy := writ_data.governance_policy_of(p_tenant_id);
  v_window := coalesce(
    (p_about ->> 'window_hours')::numeric, (v_policy.document ->> 'window_hours')::numeric
  );
  if v_window not between 1 and 168 then
    return writ_data.refusal(
      'invalid_contract', 'The window of activation is 1 to 168 hours long.'
    );
  elsif v_wrong.code is null and not v_content ? 'template'
    and writ_data.soak_ms(v_content -> 'steps') >= v_window * 3600000
  then
    return writ_data.refusal(
      'invalid_contract', 'The soaks last as long as the window of activation, or longer.'
    );
  elsif length(p_about ->> 'issue_id') > 200 then
    return writ_data.refusal('invalid_contract', 'An issue_id has 200 characters at most.');
  elsif p_about ->> 'parent_contract_id' is not null and not exists (
    select from writ_data.contract x
    where x.contract_id = (p_about ->> 'parent_contract_id')::uuid
      and x.tenant_id = p_tenant_id
  ) then
    return writ_data.refusal('contract_not_found', p_about ->> 'parent_contract_id');
  elsif writ_data.forbidden_key(v_content) is not null then
    return writ_data.refusal('forbidden_payload_key', writ_data.forbidden_key(v_content));
  end if;

  -- Write, record and answer.

  v_expires := v_now
    + (v_policy.document ->> 'draft_days')::double precision * interval '1 day';
  insert into writ_data.contract (
    contract_id, tenant_id, status, issue_id, source, title, description, content, scope_hash,
    scope, steps, risk_level, confidence, policy_version, created_by, on_behalf_of, window_hours,
    constraints, parent_contract_id, template, due_at, created_at, updated_at, expires_at
  ) values (
    v_id, p_tenant_id, 'DRAFT', p_about ->> 'issue_id', coalesce(p_about ->> 'source', 'manual'),
    p_about ->> 'title', coalesce(p_about ->> 'description', ''), p_content,
    sha256(convert_to(p_content, 'UTF8')), v_scope, v_content -> 'steps',
    coalesce(p_about ->> 'risk_level', 'medium'), coalesce((p_about ->> 'confidence')::numeric, 1),
    v_policy.version, v_who, (m.who).on_behalf_of, v_window, v_constraints,
    (p_about ->> 'parent_contract_id')::uuid, v_content -> 'template',
    v_expires, v_now, v_now, v_expires
  );
  insert into writ_data.contract_history (
    contract_id, version, from_status, to_status, reason, by, at
  ) values (v_id, 1, '', 'DRAFT', 'proposed', v_who, v_now);
  perform writ_data.contract_receipt(
    v_id, 'accept', 'contract_moved',
    jsonb_build_object(
      'to', 'DRAFT', 'why', 'proposed', 'by', v_who,
      'scope_hash', encode(sha256(convert_to(p_content, 'UTF8')), 'hex')
    ),
    v_now
  );
  if not v_draft then
    perform writ_data.submit_contract(v_id, v_who, v_now);
  end if;

  select * into c from writ_data.contract where contract_id = v_id;
  return jsonb_strip_nulls(jsonb_build_object(
    'contract_id', v_id, 'status', c.status, 'status_reason', c.status_reason,
    'scope_hash', encode(c.scope_hash, 'hex'), 'validator_verdict', c.validator_verdict,
    'eligibility_verdict', c.eligibility_verdict, 'duplicate', false
  ));
exception
  when unique_violation then
    return writ_data.refusal('contract_exists', v_id::text);
  when check_violation or not_null_violation or data_exception then
    return writ_data.refusal('invalid_contract', sqlerrm);
end $$;
