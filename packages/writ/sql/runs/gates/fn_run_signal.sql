-- Takes an operator's command to a run. The decision is recorded before it is applied.
-- Callers: writ_admin, writ_server
-- p_signal: {signalId, type, stepId, reason, params, runId (of the new run, for RETRY_RUN),
--          newEffectKey (true: a RETRY_STEP is given a new effect key)}, 64 KB at most. p_denied:
--          the library's `authorizeSignal` did not allow it, with this code.
-- Answers: {signal_id, accepted, code, duplicate, status, run_id}. A repeated signalId changes
--          nothing and answers the first decision. A denied signal is recorded and not accepted.
-- Refuses: actor_required, SIGNAL_INVALID_PAYLOAD, forbidden_payload_key, AUTHZ_REASON_REQUIRED,
--          RUN_NOT_FOUND (also for a run of another tenant), SIGNAL_DUPLICATE, run_is_governed,
--          CAPABILITIES_NOT_SUPPORTED, OUTBOX_RATE_LIMIT_EXCEEDED (a run takes
--          runs.signal.per_minute), RUN_TERMINAL, RUN_NOT_TERMINAL, STEP_TERMINAL,
--          STEP_NOT_TERMINAL, SIGNAL_NOT_APPLICABLE, payload_too_large.
-- Raises:  WR001 with the reason when a RETRY_RUN cannot start its run.
-- Locks:   the run.
create or replace function writ.fn_run_signal(
  p_run_id uuid,
  p_signal jsonb,
  p_actor text,
  p_tenant_id text default null,
  p_denied text default null
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
  v_now timestamptz := writ.now();
  v_only text := writ_data.caller_tenant();
  v_max integer := (writ_data.setting('runs.signal.max_bytes'))::integer;
  v_uuid constant text := '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';
  v_type text := p_signal ->> 'type';
  v_step text := p_signal ->> 'stepId';
  v_reason text := p_signal ->> 'reason';
  v_params jsonb := p_signal -> 'params';
  v_id uuid;
  v_run writ_data.run;
  v_over boolean;           -- the run has ended
  v_known writ_data.run_signal;
  v_of writ_data.plan_step; -- the step that the signal names
  v_last record;            -- its last event
  v_wait record;
  v_answer jsonb;
begin
  -- Validate.
  if coalesce(btrim(p_actor), '') = '' or length(p_actor) > 200 then
    return writ_data.refusal('actor_required');
  elsif octet_length(p_signal::text) > v_max then
    return writ_data.refusal('SIGNAL_INVALID_PAYLOAD',
      format('A signal has %s bytes at most, and this one %s.', v_max,
        octet_length(p_signal::text)));
  elsif jsonb_typeof(p_signal) is distinct from 'object'
    or coalesce(p_signal ->> 'signalId', '') !~* v_uuid then
    return writ_data.refusal('SIGNAL_INVALID_PAYLOAD',
      'A signal has a signalId, which is a UUID, and a type.');
  elsif coalesce(v_type, '') not in ('PAUSE', 'RESUME', 'CANCEL', 'RETRY_STEP', 'RETRY_RUN',
    'SKIP_STEP', 'UPDATE_PARAMS', 'EMERGENCY_STOP') then
    return writ_data.refusal('SIGNAL_INVALID_PAYLOAD',
      format('There is no signal %s.', coalesce(v_type, 'without a type')));
  elsif v_type in ('RETRY_STEP', 'SKIP_STEP') and coalesce(v_step, '') = '' then
    return writ_data.refusal('SIGNAL_INVALID_PAYLOAD', format('%s names a stepId.', v_type));
  elsif p_signal ? 'newEffectKey' and (v_type <> 'RETRY_STEP'
    or jsonb_typeof(p_signal -> 'newEffectKey') <> 'boolean') then
    return writ_data.refusal('SIGNAL_INVALID_PAYLOAD',
      'newEffectKey is true or false, and belongs to RETRY_STEP.');
  elsif v_type = 'UPDATE_PARAMS' and jsonb_typeof(v_params) is distinct from 'object' then
    return writ_data.refusal('SIGNAL_INVALID_PAYLOAD', 'UPDATE_PARAMS has params, an object.');
  elsif v_type = 'UPDATE_PARAMS' and writ_data.forbidden_key(v_params) is not null then
    return writ_data.refusal('forbidden_payload_key', writ_data.forbidden_key(v_params));
  elsif v_type = 'RETRY_RUN' and coalesce(p_signal ->> 'runId', '') !~* ('^$|' || v_uuid) then
    return writ_data.refusal('SIGNAL_INVALID_PAYLOAD', 'The runId of a RETRY_RUN is a UUID.');
  elsif not writ_data.references_only(p_signal) then
    return writ_data.refusal('SIGNAL_INVALID_PAYLOAD',
      'A signal is recorded in the log: its texts have 4096 bytes at most. What is longer is '
      'stored elsewhere, and referred to.');
  elsif p_denied not in ('AUTHZ_DENIED', 'AUTHZ_REASON_REQUIRED', 'AUTHZ_TENANT_FORBIDDEN') then
    return writ_data.refusal('SIGNAL_INVALID_PAYLOAD', 'p_denied is a code of authorizeSignal.');
  elsif v_type = 'EMERGENCY_STOP' and length(coalesce(btrim(v_reason), '')) = 0 then
    return writ_data.refusal('AUTHZ_REASON_REQUIRED', 'EMERGENCY_STOP needs a reason.');
  end if;
  v_id := (p_signal ->> 'signalId')::uuid;

  -- Lock, and check under the lock.
  select * into v_run from writ_data.run
  where run_id = p_run_id and tenant_id = coalesce(p_tenant_id, tenant_id)
    and tenant_id = coalesce(v_only, tenant_id)
  for no key update;
  if not found then
    return writ_data.refusal('RUN_NOT_FOUND', p_run_id::text);
  end if;
  v_over := v_run.status in ('COMPLETED', 'FAILED', 'CANCELLED');
  select * into v_known from writ_data.run_signal where run_id = p_run_id and signal_id = v_id;
  if found then
    if v_known.type <> v_type then
      return writ_data.refusal('SIGNAL_DUPLICATE', format('%s was a %s.', v_id, v_known.type));
    end if;
    return jsonb_strip_nulls(jsonb_build_object('signal_id', v_id, 'accepted', v_known.accepted,
      'code', v_known.code, 'duplicate', true, 'status', v_run.status,
      'run_id', v_known.new_run_id));
  elsif v_run.governed_by is not null and v_type <> 'EMERGENCY_STOP' then
    return writ_data.refusal('run_is_governed',
      format('It executes governance job %s: only EMERGENCY_STOP reaches it, and then it is '
        'rolled back.', v_run.governed_by));
  elsif v_run.engine <> 'native' then
    return writ_data.refusal('CAPABILITIES_NOT_SUPPORTED',
      format('The run is of engine %s.', v_run.engine));
  elsif (
    select count(*) from writ_data.run_signal x
    where x.run_id = p_run_id and x.at > v_now - interval '1 minute')
    >= (writ_data.setting('runs.signal.per_minute'))::integer then
    return writ_data.refusal('OUTBOX_RATE_LIMIT_EXCEEDED',
      format('A run takes %s signals in a minute.', writ_data.setting('runs.signal.per_minute')));
  elsif v_over <> (v_type = 'RETRY_RUN') or v_type = 'RETRY_RUN' and v_run.status = 'COMPLETED' then
    return writ_data.refusal(
      case when v_type = 'RETRY_RUN' and v_run.status <> 'COMPLETED' then 'RUN_NOT_TERMINAL'
        else 'RUN_TERMINAL' end,
      format('Run %s is %s.', p_run_id, v_run.status));
  end if;

  if p_denied is not null then
    if not v_over then
      perform writ_data.append_events(array[p_run_id], array['SignalRejected'], array['RUN'],
        array[v_id::text], array[null::integer],
        array[jsonb_strip_nulls(jsonb_build_object('signalId', v_id, 'type', v_type,
          'principal', p_actor, 'code', p_denied, 'reason', left(v_reason, 1000)))],
        null, v_id, 'fn_run_signal', p_actor, v_now);
    end if;
    insert into writ_data.run_signal (run_id, signal_id, type, accepted, code, principal, at)
    values (p_run_id, v_id, v_type, false, p_denied, p_actor, v_now);
    return jsonb_build_object('signal_id', v_id, 'accepted', false, 'code', p_denied,
      'duplicate', false, 'status', v_run.status);
  end if;

  -- Check every objection before writing.
  if v_step is not null and v_type in ('RETRY_STEP', 'SKIP_STEP') then
    select * into v_of from writ_data.plan_step
    where plan_no = v_run.plan_no and step_id = v_step;
    if not found then
      return writ_data.refusal('SIGNAL_INVALID_PAYLOAD',
        format('The plan has no step %s.', v_step));
    end if;
    select e.event_type as type, e.logical_attempt::smallint as attempt into v_last
    from writ_data.run_event e
    where e.run_id = p_run_id and e.step_id = v_step
    order by e.run_seq desc
    limit 1;
    if v_type = 'RETRY_STEP' and v_last.type is distinct from 'StepFailed' then
      return writ_data.refusal(
        case when v_last.type in ('StepCompleted', 'StepSkipped') then 'STEP_TERMINAL'
          else 'STEP_NOT_TERMINAL' end,
        format('Step %s has not failed.', v_step));
    elsif v_type = 'RETRY_STEP' and writ_data.step_stands(p_run_id, v_step) = 'open' then
      -- Its next attempt is enqueued, or begins when the run resumes.
      return writ_data.refusal('STEP_NOT_TERMINAL',
        format('Step %s is to be retried already.', v_step));
    elsif v_type = 'RETRY_STEP' and v_last.attempt = 32767 then
      return writ_data.refusal('SIGNAL_NOT_APPLICABLE',
        format('Step %s has been tried 32,767 times. RETRY_RUN begins anew.', v_step));
    elsif v_type = 'SKIP_STEP' and v_last.type in ('StepCompleted', 'StepSkipped') then
      return writ_data.refusal('STEP_TERMINAL', format('Step %s has ended.', v_step));
    elsif v_type = 'SKIP_STEP' and v_last.type = 'StepStarted'
      and v_of.type not in ('wait', 'timer') then
      return writ_data.refusal('STEP_NOT_TERMINAL', format('Step %s is running.', v_step));
    end if;
  end if;
  if v_run.ending is not null and v_type not in ('EMERGENCY_STOP', 'RETRY_RUN') then
    return writ_data.refusal('RUN_TERMINAL',
      format('Run %s is ending as %s.', p_run_id, v_run.ending));
  elsif v_type = 'UPDATE_PARAMS' and octet_length((
      case when jsonb_typeof(v_run.input) = 'object' then v_run.input else '{}' end
        || v_params)::text)
    > (writ_data.setting('queue.payload.max_bytes'))::integer then
    return writ_data.refusal('payload_too_large',
      format('The input of the run with these params is larger than queue.payload.max_bytes, %s.',
        writ_data.setting('queue.payload.max_bytes')));
  elsif v_type = 'PAUSE' and v_run.status <> 'RUNNING'
    or v_type = 'RESUME' and v_run.status <> 'PAUSED' then
    return writ_data.refusal('SIGNAL_NOT_APPLICABLE',
      format('Run %s is %s.', p_run_id, v_run.status));
  elsif v_type = 'RESUME' and writ_data.failed_step(p_run_id) is not null then
    return writ_data.refusal('SIGNAL_NOT_APPLICABLE',
      format('Step %s has failed: retry it or skip it, or cancel the run.',
        writ_data.failed_step(p_run_id)));
  end if;

  -- Record, then apply.
  insert into writ_data.run_signal (run_id, signal_id, type, accepted, principal, at)
  values (p_run_id, v_id, v_type, true, p_actor, v_now);
  if v_type = 'RETRY_RUN' then
    v_answer := writ.fn_run_start_many(jsonb_build_array(jsonb_build_object(
        'run_id', coalesce(nullif(p_signal ->> 'runId', '')::uuid, writ_data.uuidv7()),
        'tenant', v_run.tenant_id, 'project', v_run.project_id,
        'environment', v_run.environment_id, 'plan_id', p.plan_id,
        'plan_version', p.plan_version, 'sha256', encode(p.sha256, 'hex'), 'input', v_run.input,
        'priority', v_run.priority, 'original_run_id', v_run.run_id,
        'traceparent', v_run.traceparent)), p_actor)
    from writ_data.plan p
    where p.plan_no = v_run.plan_no;
    if v_answer #>> '{runs,0,run_id}' is null then
      raise exception using
        errcode = 'WR001',
        message = coalesce(v_answer #>> '{refused,0,reason}', v_answer ->> 'reason'),
        detail = 'The run could not be started again.';
    end if;
    update writ_data.run_signal set new_run_id = (v_answer #>> '{runs,0,run_id}')::uuid
    where run_id = p_run_id and signal_id = v_id;
    return jsonb_build_object('signal_id', v_id, 'accepted', true, 'duplicate', false,
      'status', v_run.status, 'run_id', v_answer #> '{runs,0,run_id}');
  end if;
  perform writ_data.append_events(array[p_run_id], array['SignalAccepted'], array['RUN'],
    array[v_id::text], array[null::integer],
    array[jsonb_strip_nulls(jsonb_build_object('signalId', v_id, 'type', v_type,
      'principal', p_actor, 'reason', left(v_reason, 1000), 'stepId', v_step,
      'params', v_params,
      'newEffectKey', case when p_signal ->> 'newEffectKey' = 'true' then true end))],
    null, v_id, 'fn_run_signal', p_actor, v_now);

  case v_type
    when 'PAUSE' then
      perform writ_data.pause_run(p_run_id, coalesce(v_reason, 'paused by ' || p_actor), v_id,
        p_actor, v_now);
    when 'RESUME' then
      perform writ_data.resume_run(p_run_id, v_id, p_actor, v_now);
    when 'CANCEL' then
      perform writ_data.begin_ending(p_run_id, 'CANCELLED',
        jsonb_strip_nulls(jsonb_build_object('reason', left(v_reason, 1000))), v_id, p_actor,
        v_now);
    when 'EMERGENCY_STOP' then
      perform writ_data.begin_ending(p_run_id, 'CANCELLED',
        jsonb_build_object('reason', left(v_reason, 1000), 'undo', false), v_id, p_actor, v_now);
    when 'UPDATE_PARAMS' then
      update writ_data.run
      set input = case when jsonb_typeof(input) = 'object' then input else '{}' end || v_params,
        moved_at = v_now
      where run_id = p_run_id;
    when 'RETRY_STEP' then
      update writ_data.run set steered = true, moved_at = v_now where run_id = p_run_id;
      -- In a paused run the step begins when the run resumes.
      if v_run.status = 'PAUSED' then
        perform writ_data.resume_if_settled(p_run_id, v_id, p_actor, v_now);
      elsif writ_data.begin_step(v_run, v_of, (v_last.attempt + 1)::smallint, p_actor, v_now) then
        perform writ_data.move_run(p_run_id, v_of.next, p_actor, v_now);
      end if;
    when 'SKIP_STEP' then
      update writ_data.run set steered = true, moved_at = v_now where run_id = p_run_id;
      -- A row that the clockwork is moving at this moment is turned away when it is claimed.
      delete from writ_data.job_wait where ctid = (
        select w.ctid
        from writ_data.job_wait w join writ_data.job j on j.job_id = w.job_id
        where j.run_id = p_run_id and j.step_no = v_of.step_no and j.undo is null
        for update of w skip locked)
      returning job_id, attempts, execution_no into v_wait;
      if found then
        perform writ_data.end_unleased(array[v_wait.job_id], array[v_wait.attempts],
          array[v_wait.execution_no], 'cancelled', 'The step was skipped.', v_now);
      end if;
      perform writ_data.append_events(array[p_run_id], array['StepSkipped'], array[v_step],
        array[coalesce(v_last.attempt, 1)::text], array[null::integer],
        array[jsonb_build_object('reasonCode', 'OPERATOR_SKIP')], null, v_id, 'fn_run_signal',
        p_actor, v_now);
      perform writ_data.resume_if_settled(p_run_id, v_id, p_actor, v_now);
      perform writ_data.move_run(p_run_id, v_of.next, p_actor, v_now);
  end case;
  return jsonb_build_object('signal_id', v_id, 'accepted', true, 'duplicate', false,
    'status', (select status from writ_data.run where run_id = p_run_id));
end $$;
