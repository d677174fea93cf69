-- Enqueues the job of an attempt at an action or at undoing one, or answers what is wrong with it.
--
-- p_about is one of the effects of governor_effects, p_was what was in flight before it, p_undoing
-- the action that this turn has sent before. The action is in the policy in force and within its
-- bounds; what undoes one is the inverse in a policy of this governor. The job's kind, id, tenant
-- and all that its input says about the governor are derived.
create or replace function writ_data.governor_attempt(
  p_about jsonb,
  p_was jsonb,
  p_undoing jsonb,
  p_actor text,
  p_at timestamptz
) returns text
language plpgsql
as $$
declare
  v_governor uuid := (p_about ->> 'g')::uuid;
  v_event_at bigint := (p_about ->> 'at')::bigint;
  v_effect jsonb := p_about -> 'effect';
  v_doing jsonb := v_effect -> 'doing';
  v_action text := v_effect ->> 'action_id';
  v_attempt integer := (v_effect ->> 'attempt')::integer;
  v_kind text := v_effect ->> 'kind';
  v_actuator text := v_doing #>> '{actuator,kind}';
  v_policy writ_data.governor_policy;
  v_rule jsonb;
  v_job uuid;
  v_input jsonb;
  v_answer jsonb;
begin
  if (v_action ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' and v_attempt between 1 and 20
      and v_kind in ('action', 'rollback') and v_actuator in ('handler', 'webhook', 'contract')
      and (v_effect ->> 'due_at')::bigint
        between v_event_at and v_event_at + 31 * 86400000::bigint) is not true
    or v_effect - '{type,job_id,action_id,attempt,kind,doing,due_at,completion_timeout_ms}'::text[]
      - '{of,reference,signal_id,signal_type,initiated_by}'::text[] <> '{}' then
    return 'An attempt is not well formed.';
  end if;

  -- A further attempt follows the one in flight.
  if v_attempt > 1 and (p_was ->> 'action_id' = v_action and p_was ->> 'kind' = v_kind
    and (p_was ->> 'attempt')::integer = v_attempt - 1) is not true then
    return 'An attempt does not follow the one before.';
  elsif v_attempt = 1 and v_kind = 'action' and p_was is not null
    and p_was ->> 'action_id' = v_action then
    return 'An action is begun twice.';
  end if;

  select * into v_policy
  from writ_data.governor_policy p
  where p.governor_id = v_governor and p.version = (p_about ->> 'version')::integer;

  if v_kind = 'action' then
    v_rule := v_policy.document -> 'actions' -> (v_doing ->> 'action_type');
    if v_rule is null or v_policy.shadow
      or v_doing - 'parameters' is distinct from jsonb_build_object(
        'action_type', v_rule -> 'action_type', 'actuator', v_rule -> 'actuator',
        'service', v_rule -> 'service', 'target', v_rule -> 'target',
        'permission', v_rule -> 'permission') then
      return 'An action is not in the policy.';
    elsif exists (
      select from jsonb_object_keys(v_rule -> 'parameters') k
      where not coalesce(v_doing -> 'parameters' ? k, false)
    ) then
      return 'An action leaves a parameter of the policy out.';
    elsif exists (
      select from jsonb_each(v_doing -> 'parameters') p
      where (v_rule -> 'parameters' -> p.key = p.value
        -- An array is contained in each that has its elements, but is none of them.
        or jsonb_typeof(p.value) <> 'array'
          and v_rule #> array['bounds', p.key, 'in'] @> p.value
        or case jsonb_typeof(p.value) when 'number' then p.value::numeric
          between (v_rule #>> array['bounds', p.key, 'min'])::numeric
          and (v_rule #>> array['bounds', p.key, 'max'])::numeric end) is not true
    ) then
      return 'An action is not within its bounds.';
    end if;
  else
    if not exists (
      select from writ_data.governor_policy p
      cross join lateral jsonb_each(p.document -> 'actions') a
      where p.governor_id = v_governor and a.value -> 'inverse' = v_doing
    ) then
      return 'What undoes an action is not in a policy.';
    elsif ((v_attempt > 1 or v_action = writ_data.shaped_uuid(sha256(
        uuid_send((p_about ->> 'event_id')::uuid) || 'rollback'::bytea), 4)::text)
      and v_effect ->> 'of' in (p_was ->> 'action_id', p_about #>> '{was,in_flight,action_id}',
        p_about #>> '{was,awaiting_baseline,action_id}',
        p_about #>> '{was,given_up,action,action_id}', p_undoing #>> '{}')) is not true then
      return 'It undoes an action of somebody else.';
    end if;
  end if;

  if v_effect ? 'initiated_by' and not exists (
    select from writ_data.governor_mail m
    where m.governor_id = v_governor and m.content ->> 'kind' = 'act'
      and m.content ->> 'action_id' = v_action
      and m.content -> 'initiated_by' = v_effect -> 'initiated_by'
  ) then
    return 'Nobody has asked for that action.';
  end if;

  v_job := writ_data.shaped_uuid(substr(int8send((p_about ->> 'ids_at')::bigint), 3)
    || substr(sha256(convert_to(v_action || '|' || v_attempt, 'UTF8')), 7, 10), 7);
  if v_effect ->> 'job_id' is distinct from v_job::text then
    return 'The job of an attempt has another id.';
  end if;

  v_input := v_effect - '{type,job_id}'::text[] || jsonb_strip_nulls(jsonb_build_object(
    'governor_id', v_governor, 'tenant', p_about -> 't', 'sku_id', p_about -> 's',
    'now', floor(extract(epoch from p_at) * 1000), 'idempotency_key', v_action,
    'policy_id', case when v_policy.document is not null then v_policy.policy_id end,
    'probe', v_rule -> 'probe'));
  v_answer := writ_data.enqueue_alike(
    case v_actuator when 'handler' then 'governor.handler.' || (v_doing ->> 'action_type')
      else 'governor.' || v_actuator end,
    array[v_job], json_build_array(v_input), p_actor, p_about ->> 't');
  if v_answer -> 'refused' not in ('[]', 'false') then
    raise exception using errcode = 'WR001',
      message = coalesce(v_answer ->> 'reason', v_answer #>> '{refused,0,reason}'),
      detail = format('Action %s could not be enqueued.', v_action);
  elsif v_answer -> 'duplicates' <> '[]' then
    -- Another job stands under this id. Decided again, the action has another.
    raise exception using errcode = 'WR001', message = 'governor_moved',
      detail = format('There is a job %s already.', v_job);
  end if;
  return null;
end $$;
