-- An operator's command to a run. p_signal: {signalId, type, stepId, reason, params, runId (of the new run, for RETRY_RUN)}. The decision is recorded before it is applied; the same signalId again changes
-- nothing and answers what was decided. p_denied: whoever asked was not allowed to, with this code; it is recorded, and refused. A signal has 64 KB at most, and a run takes 60 in a minute.
-- Callers: writ_admin, writ_server
create or replace function writ.fn_run_signal(p_run_id uuid, p_signal jsonb, p_actor text, p_tenant_id text default null, p_denied text default null) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
declare
  v_now timestamptz := writ.now(); r writ_data.run; s writ_data.plan_step; v_known writ_data.run_signal; v_id uuid; v_type text := p_signal ->> 'type'; v_step text := p_signal ->> 'stepId'; v_reason text := p_signal ->> 'reason';
  v_last record; v_answer jsonb; v_wait record;
begin
  if coalesce(btrim(p_actor), '') = '' or length(p_actor) > 200 then
    return writ_data.refusal('actor_required');
  elsif octet_length(p_signal::text) > (writ_data.setting('runs.signal.max_bytes'))::integer then
    return writ_data.refusal('SIGNAL_INVALID_PAYLOAD', format('A signal has %s bytes at most, and this one %s.', writ_data.setting('runs.signal.max_bytes'), octet_length(p_signal::text)));
  elsif jsonb_typeof(p_signal) is distinct from 'object' or coalesce(p_signal ->> 'signalId', '') !~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then
    return writ_data.refusal('SIGNAL_INVALID_PAYLOAD', 'A signal has a signalId, which is a UUID, and a type.');
  elsif coalesce(v_type, '') not in ('PAUSE', 'RESUME', 'CANCEL', 'RETRY_STEP', 'RETRY_RUN', 'SKIP_STEP', 'UPDATE_PARAMS', 'EMERGENCY_STOP') then
    return writ_data.refusal('SIGNAL_INVALID_PAYLOAD', format('There is no signal %s.', coalesce(v_type, 'without a type')));
  elsif v_type in ('RETRY_STEP', 'SKIP_STEP') and coalesce(v_step, '') = '' then
    return writ_data.refusal('SIGNAL_INVALID_PAYLOAD', format('%s names a stepId.', v_type));
  elsif v_type = 'UPDATE_PARAMS' and jsonb_typeof(p_signal -> 'params') is distinct from 'object' then
    return writ_data.refusal('SIGNAL_INVALID_PAYLOAD', 'UPDATE_PARAMS has params, an object.');
  elsif v_type = 'UPDATE_PARAMS' and writ_data.forbidden_key(p_signal -> 'params') is not null then
    return writ_data.refusal('forbidden_payload_key', writ_data.forbidden_key(p_signal -> 'params'));
  elsif v_type = 'RETRY_RUN' and coalesce(p_signal ->> 'runId', '') !~* '^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})?$' then
    return writ_data.refusal('SIGNAL_INVALID_PAYLOAD', 'The runId of a RETRY_RUN is a UUID.');
  elsif not writ_data.references_only(p_signal) then
    return writ_data.refusal('SIGNAL_INVALID_PAYLOAD', 'A signal is recorded in the log: its texts have 4096 bytes at most. What is longer is stored elsewhere, and referred to.');
  elsif v_type = 'EMERGENCY_STOP' and length(coalesce(btrim(v_reason), '')) = 0 then
    return writ_data.refusal('AUTHZ_REASON_REQUIRED', 'EMERGENCY_STOP needs a reason.');
  end if;
  v_id := (p_signal ->> 'signalId')::uuid;
  select * into r from writ_data.run where run_id = p_run_id and tenant_id = coalesce(p_tenant_id, tenant_id) and writ_data.visible(tenant_id) for no key update;
  if not found then
    return writ_data.refusal('RUN_NOT_FOUND', p_run_id::text);
  end if;
  select * into v_known from writ_data.run_signal where run_id = p_run_id and signal_id = v_id;
  if found then
    if v_known.type <> v_type then
      return writ_data.refusal('SIGNAL_DUPLICATE', format('%s was a %s.', v_id, v_known.type));
    end if;
    return jsonb_strip_nulls(jsonb_build_object('signal_id', v_id, 'accepted', v_known.accepted, 'code', v_known.code, 'duplicate', true, 'status', r.status, 'run_id', v_known.new_run_id));
  elsif r.governed_by is not null and v_type <> 'EMERGENCY_STOP' then
    return writ_data.refusal('run_is_governed', format('It executes governance job %s: only EMERGENCY_STOP reaches it, and then it is rolled back.', r.governed_by));
  elsif r.engine <> 'native' then
    return writ_data.refusal('CAPABILITIES_NOT_SUPPORTED', format('The run is of engine %s.', r.engine));
  elsif (select count(*) from writ_data.run_signal x where x.run_id = p_run_id and x.at > v_now - interval '1 minute') >= (writ_data.setting('runs.signal.per_minute'))::integer then
    return writ_data.refusal('OUTBOX_RATE_LIMIT_EXCEEDED', format('A run takes %s signals in a minute.', writ_data.setting('runs.signal.per_minute')));
  elsif (r.status in ('COMPLETED', 'FAILED', 'CANCELLED')) <> (v_type = 'RETRY_RUN') or v_type = 'RETRY_RUN' and r.status = 'COMPLETED' then
    return writ_data.refusal(case when v_type = 'RETRY_RUN' and r.status <> 'COMPLETED' then 'RUN_NOT_TERMINAL' else 'RUN_TERMINAL' end, format('Run %s is %s.', p_run_id, r.status));
  end if;

  if p_denied is not null then
    if r.status not in ('COMPLETED', 'FAILED', 'CANCELLED') then
      perform writ_data.append_events(array[p_run_id], array['SignalRejected'], array['RUN'], array[v_id::text], array[null::integer],
        array[jsonb_strip_nulls(jsonb_build_object('signalId', v_id, 'type', v_type, 'principal', p_actor, 'code', p_denied, 'reason', left(v_reason, 1000)))], null, v_id, 'fn_run_signal', p_actor, v_now);
    end if;
    insert into writ_data.run_signal (run_id, signal_id, type, accepted, code, principal, at) values (p_run_id, v_id, v_type, false, p_denied, p_actor, v_now);
    return jsonb_build_object('signal_id', v_id, 'accepted', false, 'code', p_denied, 'duplicate', false, 'status', r.status);
  end if;

  -- What can be said against it, before anything is written.
  if v_step is not null and v_type in ('RETRY_STEP', 'SKIP_STEP') then
    select * into s from writ_data.plan_step where plan_no = r.plan_no and step_id = v_step;
    if not found then
      return writ_data.refusal('SIGNAL_INVALID_PAYLOAD', format('The plan has no step %s.', v_step));
    end if;
    select e.event_type as type, e.logical_attempt::smallint as attempt into v_last from writ_data.run_event e where e.run_id = p_run_id and e.step_id = v_step order by e.run_seq desc limit 1;
    if v_type = 'RETRY_STEP' and v_last.type is distinct from 'StepFailed' then
      return writ_data.refusal(case when v_last.type in ('StepCompleted', 'StepSkipped') then 'STEP_TERMINAL' else 'STEP_NOT_TERMINAL' end, format('Step %s has not failed.', v_step));
    elsif v_type = 'SKIP_STEP' and v_last.type in ('StepCompleted', 'StepSkipped') then
      return writ_data.refusal('STEP_TERMINAL', format('Step %s has ended.', v_step));
    elsif v_type = 'SKIP_STEP' and v_last.type = 'StepStarted' and s.type <> 'wait' and s.type <> 'timer' then
      return writ_data.refusal('STEP_NOT_TERMINAL', format('Step %s is running.', v_step));
    end if;
  end if;
  if r.ending is not null and v_type not in ('EMERGENCY_STOP', 'RETRY_RUN') then
    return writ_data.refusal('RUN_TERMINAL', format('Run %s is ending as %s.', p_run_id, r.ending));
  elsif v_type = 'UPDATE_PARAMS' and octet_length((case when jsonb_typeof(r.input) = 'object' then r.input else '{}' end || (p_signal -> 'params'))::text) > (writ_data.setting('queue.payload.max_bytes'))::integer then
    return writ_data.refusal('payload_too_large', 'The input of the run with these params.');
  elsif v_type = 'PAUSE' and r.status <> 'RUNNING' or v_type = 'RESUME' and r.status <> 'PAUSED' then
    return writ_data.refusal('SIGNAL_NOT_APPLICABLE', format('Run %s is %s.', p_run_id, r.status));
  elsif v_type = 'RESUME' and writ_data.failed_step(p_run_id) is not null then
    return writ_data.refusal('SIGNAL_NOT_APPLICABLE', format('Step %s has failed: retry it or skip it, or cancel the run.', writ_data.failed_step(p_run_id)));
  end if;

  insert into writ_data.run_signal (run_id, signal_id, type, accepted, principal, at) values (p_run_id, v_id, v_type, true, p_actor, v_now);
  if v_type = 'RETRY_RUN' then
    v_answer := writ.fn_run_start_many(jsonb_build_array(jsonb_build_object('run_id', coalesce((p_signal ->> 'runId')::uuid, writ_data.uuidv7()), 'tenant', r.tenant_id, 'project', r.project_id, 'environment', r.environment_id,
      'plan_id', p.plan_id, 'plan_version', p.plan_version, 'sha256', encode(p.sha256, 'hex'), 'input', r.input, 'priority', r.priority, 'original_run_id', r.run_id, 'traceparent', r.traceparent)), p_actor)
    from writ_data.plan p where p.plan_no = r.plan_no;
    if v_answer #>> '{runs,0,run_id}' is null then
      raise exception using errcode = 'WR001', message = coalesce(v_answer #>> '{refused,0,reason}', v_answer ->> 'reason'), detail = 'The run could not be started again.';
    end if;
    update writ_data.run_signal set new_run_id = (v_answer #>> '{runs,0,run_id}')::uuid where run_id = p_run_id and signal_id = v_id;
    return jsonb_build_object('signal_id', v_id, 'accepted', true, 'duplicate', false, 'status', r.status, 'run_id', v_answer #> '{runs,0,run_id}');
  end if;
  perform writ_data.append_events(array[p_run_id], array['SignalAccepted'], array['RUN'], array[v_id::text], array[null::integer],
    array[jsonb_strip_nulls(jsonb_build_object('signalId', v_id, 'type', v_type, 'principal', p_actor, 'reason', left(v_reason, 1000), 'stepId', v_step, 'params', p_signal -> 'params'))], null, v_id, 'fn_run_signal', p_actor, v_now);
  case v_type
    when 'PAUSE' then
      perform writ_data.pause_run(p_run_id, coalesce(v_reason, 'paused by ' || p_actor), v_id, p_actor, v_now);
    when 'RESUME' then
      perform writ_data.resume_run(p_run_id, v_id, p_actor, v_now);
    when 'CANCEL' then
      perform writ_data.begin_ending(p_run_id, 'CANCELLED', jsonb_strip_nulls(jsonb_build_object('reason', left(v_reason, 1000))), v_id, p_actor, v_now);
    when 'EMERGENCY_STOP' then
      perform writ_data.begin_ending(p_run_id, 'CANCELLED', jsonb_build_object('reason', left(v_reason, 1000), 'undo', false), v_id, p_actor, v_now);
    when 'UPDATE_PARAMS' then
      update writ_data.run set input = case when jsonb_typeof(input) = 'object' then input else '{}' end || (p_signal -> 'params'), moved_at = v_now where run_id = p_run_id;
    when 'RETRY_STEP' then
      update writ_data.run set steered = true, moved_at = v_now where run_id = p_run_id;
      -- In a pause it begins when the run goes on.
      if r.status = 'PAUSED' then
        perform writ_data.resume_if_settled(p_run_id, v_id, p_actor, v_now);
      elsif writ_data.begin_step(r, s, (v_last.attempt + 1)::smallint, p_actor, v_now) then
        perform writ_data.move_run(p_run_id, s.next, p_actor, v_now);
      end if;
    when 'SKIP_STEP' then
      update writ_data.run set steered = true, moved_at = v_now where run_id = p_run_id;
      -- A row that the clockwork is moving at this moment is turned away when it is claimed.
      delete from writ_data.job_wait where ctid = (select w.ctid from writ_data.job_wait w join writ_data.job j on j.job_id = w.job_id
        where j.run_id = p_run_id and j.step_no = s.step_no and j.undo is null for update of w skip locked) returning job_id, attempts, execution_no into v_wait;
      if found then
        perform writ_data.end_unleased(array[v_wait.job_id], array[v_wait.attempts], array[v_wait.execution_no], 'cancelled', 'The step was skipped.', v_now);
      end if;
      perform writ_data.append_events(array[p_run_id], array['StepSkipped'], array[v_step], array[coalesce(v_last.attempt, 1)::text], array[null::integer],
        array[jsonb_build_object('reasonCode', 'OPERATOR_SKIP')], null, v_id, 'fn_run_signal', p_actor, v_now);
      perform writ_data.resume_if_settled(p_run_id, v_id, p_actor, v_now);
      perform writ_data.move_run(p_run_id, s.next, p_actor, v_now);
  end case;
  return jsonb_build_object('signal_id', v_id, 'accepted', true, 'duplicate', false, 'status', (select status from writ_data.run where run_id = p_run_id));
end $$;
