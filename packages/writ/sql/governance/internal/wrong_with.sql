-- Returns what is wrong with a contract's scope, steps and constraints, if anything: a code and a
-- sentence. Gates ask when it is proposed and again when it is activated, so nothing depends on how
-- a row got there. p_template: null for a contract that is no template.
create or replace function writ_data.wrong_with(
  p_tenant text,
  p_scope text[],
  p_steps jsonb,
  p_template jsonb,
  p_constraints jsonb,
  out code text,
  out detail text
)
language plpgsql stable
as $$
declare
  v_limit_ms bigint;
begin
  if coalesce(cardinality(p_scope), 0) = 0 then
    code := 'scope_empty';
    detail := 'A contract names what it may affect; an empty scope allows nothing.';
  elsif jsonb_typeof(p_steps) is distinct from 'array'
    or jsonb_array_length(p_steps) not between 1 and 200
  then
    code := 'invalid_contract';
    detail := 'A contract has one to two hundred steps.';
  elsif cardinality(p_scope) > 200
    or exists (select from unnest(p_scope) x where x is null or length(x) not between 1 and 200)
  then
    code := 'invalid_contract';
    detail := 'A name in the scope has 1 to 200 characters.';
  elsif exists (select from unnest(p_scope) x where x is not nfc normalized) then
    code := 'invalid_contract';
    detail := 'A name in the scope is not in the Unicode normal form NFC.';
  elsif exists (select from unnest(p_scope) x where upper(x) = 'SYSTEM') then
    code := 'scope_violation';
    detail := 'SYSTEM is no target of changes: name the capabilities and configuration scopes.';
  elsif p_template is null and writ_data.wrong_with_params(p_steps, null) is not null then
    code := 'invalid_contract';
    detail := writ_data.wrong_with_params(p_steps, null);
  else
    detail := writ_data.inexact_number(
      jsonb_build_object('steps', p_steps, 'template', p_template)
    );
    if detail is not null then
      code := 'value_not_canonical';
    end if;
  end if;
  if code is not null then
    return;
  end if;

  select x.code, x.detail
  into code, detail
  from (
    select
      s.n,
      case
        when s.type is null or s.target is null
          or jsonb_typeof(s.step -> 'parameters') is distinct from 'object'
          or s.step - '{step_type,target,parameters}'::text[] <> '{}'
          then 'invalid_contract'
        when s.target is not nfc normalized
          or coalesce(s.p ->> 'key', '') is not nfc normalized
          or coalesce(s.p ->> 'scope', '') is not nfc normalized
          or coalesce(s.p ->> 'signal_type', '') is not nfc normalized
          then 'invalid_contract: a name is not in the Unicode normal form NFC'
        when s.type = 'signal_record' and (
          s.target <> 'SYSTEM' or coalesce(s.p ->> 'signal_type', '') = ''
          or coalesce(s.p ->> 'decision', 'EXECUTING')
            not in ('BLOCKED', 'WARN', 'PENDING', 'EXECUTING')
          or length(s.p ->> 'signal_type') > 200
          or s.p - '{signal_type,scope,decision,reason}'::text[] <> '{}'
        ) then 'invalid_contract'
        when s.type = 'signal_record' then case
          when coalesce(s.p ->> 'scope', 'SYSTEM') <> 'SYSTEM' and s.p ->> 'scope' <> all (p_scope)
            then 'scope_violation'
          -- It would block, or warn of, what the contract may not touch.
          when coalesce(s.p ->> 'scope', 'SYSTEM') = 'SYSTEM'
            and s.p ->> 'decision' in ('BLOCKED', 'WARN')
            then 'scope_violation: a signal about SYSTEM only says PENDING or EXECUTING'
        end
        when s.type = 'soak' then case
          when s.target <> 'SYSTEM' or coalesce(s.p ->> 'duration_ms', '') !~ '^[1-9][0-9]{0,9}$'
            or (s.p ->> 'duration_ms')::bigint > 604800000
            or s.p - 'duration_ms' <> '{}'
            then 'invalid_contract'
        end
        when s.target = 'SYSTEM' or s.target <> all (p_scope) then 'scope_violation'
        when s.type = 'capability_enable' and (
          coalesce(s.p ->> 'target_lifecycle', 'LAUNCHED')
            not in ('PREVIEW', 'LAUNCHED', 'DEPRECATED')
          or s.p - '{target_lifecycle,qualifier_override}'::text[] <> '{}'
        ) then 'invalid_contract'
        when s.type = 'capability_enable'
          and coalesce(s.p -> 'qualifier_override', 'false') <> 'false'
          then 'invalid_contract: qualifier_override is false; no contract overrides a qualifier'
        when s.type = 'capability_disable' and s.p - 'reason' <> '{}' then 'invalid_contract'
        when s.type in ('capability_enable', 'capability_disable') and not exists (
          select from writ_data.capability c
          where c.tenant_id = p_tenant and c.capability_name = s.target
        ) then 'unknown_target'
        when s.type = 'config_update' and (
          length(coalesce(s.p ->> 'key', '')) not between 1 and 200 or not s.p ? 'new_value'
          or s.p - '{key,old_value,new_value}'::text[] <> '{}'
        ) then 'invalid_contract'
        when s.type = 'config_update' and not exists (
          select from writ_data.configuration_scope c
          where c.tenant_id = p_tenant and c.scope = s.target
        ) then 'unknown_target'
        when s.type not in ('capability_enable', 'capability_disable', 'config_update') and (
          s.type !~ '^[a-z][a-z0-9_]{0,49}$' or s.type in ('change', 'audit', 'ended', 'verify')
          or not exists (
            select from writ_data.job_kind k where k.job_kind = 'governance.' || s.type
          )
        ) then 'unknown_step_type'
        when s.type not in ('capability_enable', 'capability_disable', 'config_update')
          and s.p - 'value' <> '{}'
          then 'invalid_contract: a step of your own type has the parameter value, and no other'
      end as code,
      format(
        'Step %s (%s on %s)', s.n, coalesce(s.type, 'no type'), coalesce(s.target, 'nothing')
      ) as detail
    from (
      select
        e.n, e.step, e.step ->> 'step_type' as type, e.step ->> 'target' as target,
        e.step -> 'parameters' as p
      from jsonb_array_elements(p_steps) with ordinality e(step, n)
    ) s
  ) x
  where x.code is not null
  order by x.n limit 1;
  if code like '%: %' then
    detail := concat(detail, ': ', split_part(code, ': ', 2));
    code := split_part(code, ': ', 1);
  end if;
  if code is not null then
    return;
  end if;

  v_limit_ms := writ_data.job_limit_ms(p_constraints);
  if writ_data.soak_ms(p_steps) >= v_limit_ms then
    code := 'invalid_contract';
    detail := format(
      'The soaks last %s ms, and the job may take %s ms (max_duration_ms): it could not end.',
      writ_data.soak_ms(p_steps), v_limit_ms
    );
  end if;
end $$;
