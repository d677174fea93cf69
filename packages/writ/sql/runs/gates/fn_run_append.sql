-- Appends an event to the log of a run that another engine executes, if it can have happened at
-- this point of the log.
-- Callers: writ_producer, writ_engine
-- p_event: {eventType, stepId, logicalAttemptId, engineAttemptId, eventData, emittedAt,
--          adapterVersion, parentEventId}. Its type is one that moves a run or a step, its step is
--          one of the plan (an element only of a list, an undoing only of a step that the plan
--          compensates), and it holds references, never bodies. emittedAt is the engine's own time;
--          parentEventId is an event of the same run. They stand in the event as eventData.told. A
--          RunStarted may have an engineRunRef in its data; the run keeps the first.
-- Answers: {run_seq, event_id, idempotent, persisted_at}. For an event that is in the log already,
--          the gate answers the stored one (idempotent). A step may end before the log knows that
--          it began: a StepStarted that comes behind the end of its attempt, or of the run, is
--          kept, as late.
-- Refuses: actor_required, invalid_argument, ARTIFACT_BODY_NOT_ALLOWED, RUN_NOT_FOUND (also for a
--          run of another tenant), CAPABILITIES_NOT_SUPPORTED (the native engine writes its own
--          log), not_the_engine, EVENT_OUT_OF_ORDER.
-- Who may: a login appends to the runs that it has started. A login that is bound to a tenant and
--          has writ_engine appends to all runs of other engines of that tenant. The setting
--          writ.tenant binds no login.
-- Locks:   the run.
create or replace function writ.fn_run_append(
  p_run_id uuid,
  p_event jsonb,
  p_actor text,
  p_tenant_id text default null
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
  v_now timestamptz := writ.now();
  v_only text := writ_data.caller_tenant();
  v_type text := p_event ->> 'eventType';
  v_step text := coalesce(p_event ->> 'stepId', 'RUN');
  v_attempt text := coalesce(p_event ->> 'logicalAttemptId', '1');
  v_data jsonb := coalesce(p_event -> 'eventData', '{}');
  v_run writ_data.run;
  v_there writ_data.run_event;
  v_to text;        -- the status that the run moves to
  v_last text;      -- the event that the attempt has ended or begun with
  v_late boolean;
  v_wrong text;
  v_open text;      -- a step that a RunCompleted leaves open
  v_told jsonb;     -- what the engine says of the event itself
  v_emitted_at timestamptz := writ_data.as_moment(p_event ->> 'emittedAt');
begin
  -- Validate.
  if coalesce(btrim(p_actor), '') = '' or length(p_actor) > 200 then
    return writ_data.refusal('actor_required');
  elsif jsonb_typeof(p_event) is distinct from 'object' or jsonb_typeof(v_data) <> 'object'
    or v_step !~ '^[A-Za-z0-9][A-Za-z0-9_.:-]{0,110}([[][0-9]{1,9}[]])?$'
    or v_attempt !~ '^[A-Za-z0-9-]{1,40}$'
    or coalesce(p_event ->> 'engineAttemptId', '1') !~ '^[0-9]{1,9}$' then
    return writ_data.refusal('invalid_argument',
      'An event has an eventType, a stepId, a logicalAttemptId and eventData, an object.');
  elsif p_event ? 'emittedAt' and (v_emitted_at is null or p_event ->> 'emittedAt'
      !~ ('^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?'
        || '(Z|[+-][0-9]{2}:[0-9]{2})$')
    or v_emitted_at > v_now + interval '5 minutes') then
    return writ_data.refusal('invalid_argument',
      'emittedAt is a time such as 2026-11-18T12:00:00Z, and not in the future.');
  elsif coalesce(p_event ->> 'adapterVersion', '1') !~ '^[A-Za-z0-9][A-Za-z0-9_.+/-]{0,39}$' then
    return writ_data.refusal('invalid_argument',
      'adapterVersion has 1 to 40 letters, digits and _ . + / -.');
  elsif v_data ? 'told' then
    return writ_data.refusal('invalid_argument',
      'eventData has no field told: emittedAt, adapterVersion and parentEventId stand beside it.');
  elsif v_type = 'RunStarted' and (
      coalesce(jsonb_typeof(v_data -> 'engineRunRef'), 'object') <> 'object'
      or octet_length((v_data -> 'engineRunRef')::text) > 4096) then
    return writ_data.refusal('invalid_argument',
      'engineRunRef is an object of at most 4,096 bytes.');
  elsif coalesce(v_type, '') not in ('RunApproved', 'RunQueued', 'RunStarted', 'RunPaused',
    'RunResumed', 'RunCompleted', 'RunFailed', 'RunCancelled', 'StepStarted', 'StepCompleted',
    'StepFailed', 'StepSkipped') then
    return writ_data.refusal('invalid_argument',
      'An event has an eventType that moves a run or a step.');
  elsif not writ_data.references_only(v_data) then
    return writ_data.refusal('ARTIFACT_BODY_NOT_ALLOWED', v_type);
  end if;

  -- Lock.
  select * into v_run from writ_data.run
  where run_id = p_run_id and tenant_id = coalesce(p_tenant_id, tenant_id)
    and tenant_id = coalesce(v_only, tenant_id)
  for no key update;
  if not found then
    return writ_data.refusal('RUN_NOT_FOUND', p_run_id::text);
  elsif v_run.engine = 'native' then
    return writ_data.refusal('CAPABILITIES_NOT_SUPPORTED',
      'The native engine writes its log itself.');
  elsif v_run.engine_login is distinct from session_user
    -- The login's row only: every caller may set writ.tenant.
    and not (writ_data.caller_has('writ_engine') and exists (
      select from writ_data.login l
      where l.login = session_user and l.tenant_id = v_run.tenant_id)) then
    return writ_data.refusal('not_the_engine', 'Another login has started this run.');
  end if;

  -- Check under the lock.
  select * into v_there from writ_data.run_event e
  where e.run_id = p_run_id and e.step_id = v_step and e.logical_attempt = v_attempt
    and e.event_type = v_type;
  if not found then
    v_to := case v_type
      when 'RunApproved' then 'APPROVED'
      when 'RunStarted' then 'RUNNING'
      when 'RunPaused' then 'PAUSED'
      when 'RunResumed' then 'RUNNING'
      when 'RunCompleted' then 'COMPLETED'
      when 'RunFailed' then 'FAILED'
      when 'RunCancelled' then 'CANCELLED'
    end;
    -- The end of an attempt counts even if its start comes later.
    select e.event_type into v_last from writ_data.run_event e
    where e.run_id = p_run_id and e.step_id = v_step and e.logical_attempt = v_attempt
    order by e.event_type = 'StepStarted', e.run_seq desc limit 1;
    v_late := v_type = 'StepStarted' and v_step <> 'RUN' and v_last is not null;
    if v_type = 'RunCompleted' then
      v_open := writ_data.open_in_log(p_run_id, v_run.plan_no);
    end if;
    v_wrong := case
      when (v_type like 'Run%') <> (v_step = 'RUN')
        then format('%s is not an event of %s', v_type, v_step)
      when v_step <> 'RUN' and not exists (
        select from writ_data.plan_step s
        where s.plan_no = v_run.plan_no
          and s.step_id = regexp_replace(regexp_replace(v_step, '^undo:', ''), '[[][0-9]+[]]$', '')
          and (v_step !~ '^undo:' or s.undo_kind is not null)
          and (v_step !~ '[]]$' or s.type = 'each'))
        then format('the plan has no step %s', v_step)
      when p_event ? 'parentEventId' and not exists (
        select from writ_data.run_event e
        where e.run_id = p_run_id
          and writ.run_event_id(p_run_id, e.run_seq)::text = lower(p_event ->> 'parentEventId'))
        then 'the run has no event with the id parentEventId'
      when v_late then null
      when v_run.status in ('COMPLETED', 'FAILED', 'CANCELLED')
        then format('the run is %s', v_run.status)
      when v_type = 'RunApproved' and v_run.status <> 'PENDING'
        or v_type in ('RunQueued', 'RunStarted') and v_run.status not in ('PENDING', 'APPROVED')
        or v_type in ('RunPaused', 'RunCompleted') and v_run.status <> 'RUNNING'
        or v_type = 'RunResumed' and v_run.status <> 'PAUSED'
        or v_type = 'RunFailed' and v_run.status not in ('RUNNING', 'PAUSED')
        or v_step <> 'RUN' and v_run.status not in ('RUNNING', 'PAUSED')
        then format('the run is %s', v_run.status)
      when v_type in ('StepCompleted', 'StepFailed') and v_last <> 'StepStarted'
        then format('attempt %s of step %s has ended', v_attempt, v_step)
      when v_open is not null
        then format('step %s has not ended', v_open)
      when v_type = 'StepSkipped' and v_last in ('StepCompleted', 'StepSkipped')
        then format('step %s has ended', v_step)
    end;
    if v_wrong is not null then
      return writ_data.refusal('EVENT_OUT_OF_ORDER', format('%s: %s.', v_type, v_wrong));
    end if;

    -- Write.
    if v_late then
      v_data := v_data || '{"late": true}';
    elsif v_type = 'RunStarted' then
      v_run.engine_run_ref := coalesce(v_run.engine_run_ref, v_data -> 'engineRunRef');
      select v_data || jsonb_strip_nulls(jsonb_build_object('planId', p.plan_id,
        'planVersion', p.plan_version, 'planSha256', encode(p.sha256, 'hex'),
        'engine', v_run.engine, 'engineRunRef', v_run.engine_run_ref))
      into v_data from writ_data.plan p where p.plan_no = v_run.plan_no;
    end if;
    v_told := jsonb_strip_nulls(jsonb_build_object(
      'emittedAt', to_char(v_emitted_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'adapterVersion', p_event ->> 'adapterVersion',
      'parentEventId', lower(p_event ->> 'parentEventId')));
    if v_told <> '{}' then
      v_data := v_data || jsonb_build_object('told', v_told);
    end if;
    perform writ_data.append_events(array[p_run_id], array[v_type], array[v_step],
      array[v_attempt], array[(p_event ->> 'engineAttemptId')::integer], array[v_data], null, null,
      'fn_run_append', p_actor, v_now);
    if v_to is not null then
      update writ_data.run
      set status = v_to, pauses = pauses + (v_to = 'PAUSED')::integer, moved_at = v_now,
        engine_run_ref = v_run.engine_run_ref
      where run_id = p_run_id;
    end if;
    select * into v_there from writ_data.run_event e
    where e.run_id = p_run_id and e.step_id = v_step and e.logical_attempt = v_attempt
      and e.event_type = v_type;
  end if;
  return jsonb_build_object('run_seq', v_there.run_seq,
    'event_id', writ.run_event_id(p_run_id, v_there.run_seq),
    'idempotent', v_there.at < v_now, 'persisted', true, 'persisted_at', v_there.at);
end $$;
