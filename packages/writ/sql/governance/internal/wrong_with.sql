-- What is wrong with a contract's scope and steps, if anything: a code and a sentence. The same is asked when it is proposed and again at each effect, so that nothing depends on how a row got there.
create or replace function writ_data.wrong_with(p_tenant text, p_scope text[], p_steps jsonb, out code text, out detail text) language plpgsql stable as $$
begin
  if coalesce(cardinality(p_scope), 0) = 0 then
    code := 'scope_empty'; detail := 'A contract names what it may affect; an empty scope allows nothing.';
  elsif jsonb_typeof(p_steps) is distinct from 'array' or jsonb_array_length(p_steps) not between 1 and 200 then
    code := 'invalid_contract'; detail := 'A contract has one to two hundred steps.';
  end if;
  if code is not null then
    return;
  end if;
  select case when bool_or(upper(x) = 'SYSTEM') then 'scope_violation' when bool_or(x is null or length(x) not between 1 and 200) or cardinality(p_scope) > 200 then 'invalid_contract' end, case when bool_or(upper(x) = 'SYSTEM') then 'SYSTEM is no target of changes: name the capabilities and configuration scopes.'
    else 'A name in the scope has 1 to 200 characters.' end into code, detail from unnest(p_scope) x;
  if code is not null then
    return;
  end if;
  select x.code, x.detail into code, detail from (
    select s.n, case
        when s.type is null or s.target is null or jsonb_typeof(s.step -> 'parameters') is distinct from 'object' or s.step - '{step_type,target,parameters}'::text[] <> '{}' then 'invalid_contract'
        when s.type = 'signal_record' then case when s.target <> 'SYSTEM' or coalesce(s.p ->> 'signal_type', '') = '' or coalesce(s.p ->> 'decision', 'EXECUTING') not in ('BLOCKED', 'WARN', 'PENDING', 'EXECUTING')
          or length(s.p ->> 'signal_type') > 200 or s.p - '{signal_type,scope,decision,reason}'::text[] <> '{}' then 'invalid_contract'
          when coalesce(s.p ->> 'scope', 'SYSTEM') <> 'SYSTEM' and s.p ->> 'scope' <> all (p_scope) then 'scope_violation' end
        when s.type = 'soak' then case when s.target <> 'SYSTEM' or coalesce(s.p ->> 'duration_ms', '') !~ '^[1-9][0-9]{0,9}$' or (s.p ->> 'duration_ms')::bigint > 604800000 then 'invalid_contract' end
        when s.target = 'SYSTEM' then 'scope_violation'
        when s.target <> all (p_scope) then 'scope_violation'
        when s.type = 'capability_enable' and coalesce(s.p ->> 'target_lifecycle', 'LAUNCHED') not in ('PREVIEW', 'LAUNCHED', 'DEPRECATED') then 'invalid_contract'
        when s.type in ('capability_enable', 'capability_disable') and not exists (select from writ_data.capability c where c.tenant_id = p_tenant and c.capability_name = s.target) then 'unknown_target'
        when s.type = 'config_update' and (length(coalesce(s.p ->> 'key', '')) not between 1 and 200 or not s.p ? 'new_value' or s.p - '{key,old_value,new_value}'::text[] <> '{}') then 'invalid_contract'
        when s.type = 'config_update' and not exists (select from writ_data.configuration_scope c where c.tenant_id = p_tenant and c.scope = s.target) then 'unknown_target'
        when s.type not in ('capability_enable', 'capability_disable', 'config_update') and (s.type in ('change', 'audit', 'ended') or not exists (select from writ_data.job_kind k where k.job_kind = 'governance.' || s.type)) then 'unknown_step_type'
      end as code, format('Step %s (%s on %s)', s.n, coalesce(s.type, 'no type'), coalesce(s.target, 'nothing')) as detail
    from (select e.n, e.step, e.step ->> 'step_type' as type, e.step ->> 'target' as target, e.step -> 'parameters' as p from jsonb_array_elements(p_steps) with ordinality e(step, n)) s) x
  where x.code is not null order by x.n limit 1;
end $$;
