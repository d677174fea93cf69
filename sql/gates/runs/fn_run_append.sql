-- An event of a run that another engine executes: {eventType, stepId, logicalAttemptId, engineAttemptId, eventData}. It is taken if it can have happened at this point of the log; one that is there
-- already is answered as it is ("idempotent": true). A step may end before the log knows that it began: a StepStarted that waited in a spool and comes behind the end of its attempt, or of the run, is kept, and
-- marked as late. Events hold references, never bodies.
-- Answers {run_seq, event_id, idempotent, persisted_at}. The native engine writes its log itself.
-- Callers: writ_worker, writ_engine
create or replace function writ.fn_run_append(p_run_id uuid, p_event jsonb, p_actor text, p_tenant_id text default null) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
declare
  v_now timestamptz := writ.now(); r writ_data.run; v_type text := p_event ->> 'eventType'; v_step text := coalesce(p_event ->> 'stepId', 'RUN'); v_attempt text := coalesce(p_event ->> 'logicalAttemptId', '1');
  v_data jsonb := coalesce(p_event -> 'eventData', '{}'); v_there writ_data.run_event; v_next text; v_wrong text; v_last text; v_run boolean; v_late boolean;
begin
  if coalesce(btrim(p_actor), '') = '' then
    return writ_data.refusal('actor_required');
  elsif jsonb_typeof(p_event) is distinct from 'object' or jsonb_typeof(v_data) <> 'object' or v_step !~ '^[A-Za-z0-9][A-Za-z0-9_.:-]{0,110}(\[\d+\])?$' or v_attempt !~ '^[A-Za-z0-9-]{1,40}$' or coalesce(p_event ->> 'engineAttemptId', '1') !~ '^\d{1,9}$' then
    return writ_data.refusal('invalid_argument', 'An event has an eventType, a stepId, a logicalAttemptId and eventData, an object.');
  elsif v_type is null or v_type !~ '^[A-Z][A-Za-z]{1,63}$' then
    return writ_data.refusal('invalid_argument', 'An event has an eventType.');
  elsif not writ_data.references_only(v_data) then
    return writ_data.refusal('ARTIFACT_BODY_NOT_ALLOWED', v_type);
  end if;
  select * into r from writ_data.run where run_id = p_run_id and tenant_id = coalesce(p_tenant_id, tenant_id) and writ_data.visible(tenant_id) for no key update;
  if not found then
    return writ_data.refusal('RUN_NOT_FOUND', p_run_id::text);
  elsif r.engine = 'native' then
    return writ_data.refusal('CAPABILITIES_NOT_SUPPORTED', 'The native engine writes its log itself.');
  end if;
  select * into v_there from writ_data.run_event e where e.run_id = p_run_id and e.step_id = v_step and e.logical_attempt = v_attempt and e.event_type = v_type;
  if not found then
    v_run := v_type like 'Run%' or v_type like 'Signal%';
    v_next := case v_type when 'RunApproved' then 'APPROVED' when 'RunStarted' then 'RUNNING' when 'RunPaused' then 'PAUSED' when 'RunResumed' then 'RUNNING' when 'RunCompleted' then 'COMPLETED' when 'RunFailed' then 'FAILED' when 'RunCancelled' then 'CANCELLED' end;
    -- The end of an attempt counts, also when its start is behind it.
    select e.event_type into v_last from writ_data.run_event e where e.run_id = p_run_id and e.step_id = v_step and e.logical_attempt = v_attempt order by e.event_type = 'StepStarted', e.run_seq desc limit 1;
    v_late := v_type = 'StepStarted' and v_step <> 'RUN' and v_last is not null;
    v_wrong := case
      when v_late then null
      when r.status in ('COMPLETED', 'FAILED', 'CANCELLED') then format('the run is %s', r.status)
      when v_run <> (v_step = 'RUN') then format('%s is not an event of %s', v_type, v_step)
      when v_type = 'RunResumed' and r.status <> 'PAUSED' or v_type = 'RunPaused' and r.status <> 'RUNNING' or v_type = 'RunStarted' and r.status not in ('PENDING', 'APPROVED') or v_type = 'RunApproved' and r.status <> 'PENDING'
        or v_type = 'RunCompleted' and r.status <> 'RUNNING' or v_type = 'RunFailed' and r.status not in ('RUNNING', 'PAUSED') then format('the run is %s', r.status)
      when v_step <> 'RUN' and r.status not in ('RUNNING', 'PAUSED') then format('the run is %s', r.status)
      when v_type in ('StepCompleted', 'StepFailed') and v_last <> 'StepStarted' then format('attempt %s of step %s has ended', v_attempt, v_step)
      when v_type = 'StepSkipped' and v_last in ('StepCompleted', 'StepSkipped') then format('step %s has ended', v_step)
    end;
    if v_wrong is not null then
      return writ_data.refusal('EVENT_OUT_OF_ORDER', format('%s: %s.', v_type, v_wrong));
    end if;
    if v_late then
      v_data := v_data || '{"late": true}';
    end if;
    perform writ_data.append_events(array[p_run_id], array[v_type], array[v_step], array[v_attempt], array[(p_event ->> 'engineAttemptId')::integer], array[v_data], null, null, 'fn_run_append', p_actor, v_now);
    if v_next is not null then
      update writ_data.run set status = v_next, pauses = pauses + (v_next = 'PAUSED')::integer, moved_at = v_now where run_id = p_run_id;
    end if;
    select * into v_there from writ_data.run_event e where e.run_id = p_run_id and e.step_id = v_step and e.logical_attempt = v_attempt and e.event_type = v_type;
  end if;
  return jsonb_build_object('run_seq', v_there.run_seq, 'event_id', writ.run_event_id(p_run_id, v_there.run_seq), 'idempotent', v_there.at < v_now, 'persisted', true, 'persisted_at', v_there.at);
end $$;
