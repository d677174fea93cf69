-- What is wrong with a step of a plan by itself, in words; null if nothing is. The bounds are those
-- of src/runs/plans/document.ts: the builder has checked them, and any login may call the gate.
create or replace function writ_data.wrong_with_step(p_step jsonb) returns text
language plpgsql immutable
as $$
declare
  v_type text := p_step ->> 'type';
  v_ms bigint := writ_data.plan_limit('ms');
  v_attempts bigint := writ_data.plan_limit('attempts');
  v_undo jsonb := p_step -> 'compensate';
  v_fields text[];
begin
  if jsonb_typeof(p_step) <> 'object' then
    return 'is not an object';
  elsif coalesce(p_step ->> 'id', '') !~ '^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$'
    or p_step ->> 'id' = 'RUN' or p_step ->> 'id' ~ '[.]output([.]|$)' then
    return 'has an id that is not allowed';
  elsif coalesce(v_type, '') not in ('job', 'each', 'wait', 'timer') then
    return 'is of a type that does not exist';
  end if;

  v_fields := '{id,type,after,when,optional}'::text[] || case v_type
    when 'job' then '{kind,input,retry,timeoutMs,compensate}'::text[]
    when 'each' then '{kind,input,retry,timeoutMs,compensate,over,parallel}'
    when 'wait' then '{event,schema,timeoutMs,onTimeout}'
    else '{ms}'
  end;
  if p_step - v_fields <> '{}' then
    return format('has a field that a step of type %s does not have', v_type);
  elsif jsonb_typeof(coalesce(p_step -> 'after', '[]')) <> 'array' then
    return 'has an after that is not a list';
  elsif p_step ? 'optional' and p_step -> 'optional' <> 'true' then
    return 'has an optional that is not true';
  elsif p_step ? 'when'
    and not writ_data.is_condition(p_step -> 'when', writ_data.plan_limit('depth')) then
    return 'has a when that is not a condition';
  end if;

  if not writ_data.whole_within(p_step -> 'ms', 1, v_ms)
    or v_type = 'timer' and not p_step ? 'ms' then
    return format('has an ms that is not a whole number from 1 to %s', v_ms);
  elsif not writ_data.whole_within(p_step -> 'timeoutMs', 1, v_ms) then
    return format('has a timeoutMs that is not a whole number from 1 to %s', v_ms);
  elsif p_step ? 'schema' and (jsonb_typeof(p_step -> 'schema') <> 'object'
    or octet_length((p_step -> 'schema')::text) > 16384) then
    return 'has a schema that is not an object of at most 8,192 bytes';
  elsif p_step ? 'onTimeout' and p_step -> 'onTimeout' <> '"skip"' then
    return 'has an onTimeout that is not skip';
  elsif v_type = 'wait'
    and coalesce(p_step ->> 'event', '') !~ '^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$' then
    return 'has an event that is not a name';
  elsif v_type = 'each' and not (p_step ? 'parallel'
    and writ_data.whole_within(p_step -> 'parallel', 1, writ_data.plan_limit('parallel'))) then
    return format('has a parallel that is not a whole number from 1 to %s',
      writ_data.plan_limit('parallel'));
  elsif v_type = 'each' and not (coalesce(p_step -> 'over', '{}') - '$ref' = '{}'
    and writ_data.is_reference(p_step #> '{over,$ref}')) then
    return 'has an over that is not a reference';
  end if;

  if p_step ? 'compensate'
    and (jsonb_typeof(v_undo) <> 'object' or v_undo - '{kind,input,retry}'::text[] <> '{}'
      or jsonb_typeof(v_undo -> 'kind') is distinct from 'string') then
    return 'has a compensate that is not kind, input and retry';
  elsif not writ_data.is_retry(p_step -> 'retry', v_attempts)
    or not writ_data.is_retry(v_undo -> 'retry', v_attempts) then
    return format('has a retry whose attempts are not a whole number from 1 to %s', v_attempts);
  elsif exists (
    select from (values (p_step -> 'input'), (v_undo -> 'input')) t(template)
    where (select count(*) from jsonb_path_query(t.template, 'lax $.**."$ref"'))
      > writ_data.plan_limit('refs')) then
    return format('has more than %s references in a template', writ_data.plan_limit('refs'));
  end if;
  return null;
end $$;
