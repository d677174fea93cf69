-- Delivers an event from outside to a run. It ends the step that waits for it; if no step waits
-- yet, the run keeps it.
-- Callers: writ_producer, writ_server
-- Answers: {duplicate, step}. A repeated p_delivery_id changes nothing. p_denied: the
--          library's `authorizeSignal` did not allow it, with this code; the attempt is recorded in
--          the log of the run, and the answer is {denied: code}.
-- Refuses: actor_required, SIGNAL_INVALID_PAYLOAD (also a payload that does not fit the schema that
--          the plan has for the event; a missing payload is checked as null), RUN_NOT_FOUND (also
--          for a run of another tenant), run_is_governed, CAPABILITIES_NOT_SUPPORTED (a run of
--          another engine), RUN_TERMINAL, OUTBOX_RATE_LIMIT_EXCEEDED (a thousand deliveries of the
--          run wait for a step, or runs.signal.per_minute of them were denied in a row within a
--          minute).
-- Locks:   the run.
create or replace function writ.fn_run_deliver(
  p_run_id uuid,
  p_event text,
  p_payload json,
  p_delivery_id text,
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
  v_run writ_data.run;
  v_step writ_data.plan_step;
  v_delivery writ_data.run_delivery;
  v_taken text;
  v_open record;
  v_refused_id uuid;
  v_wrong text;             -- where the payload does not fit the schema of the step
  v_denials integer := (writ_data.setting('runs.signal.per_minute'))::integer;
begin
  -- Validate.
  if coalesce(btrim(p_actor), '') = '' or length(p_actor) > 200 then
    return writ_data.refusal('actor_required');
  elsif coalesce(p_event, '') = '' or length(p_event) > 200
    or coalesce(p_delivery_id, '') = '' or length(p_delivery_id) > 200 then
    return writ_data.refusal('SIGNAL_INVALID_PAYLOAD',
      'A delivery has the name of an event and an id, of at most 200 characters each.');
  elsif octet_length(p_payload::text) > v_max then
    return writ_data.refusal('SIGNAL_INVALID_PAYLOAD',
      format('A delivery has %s bytes at most, and this one %s.', v_max,
        octet_length(p_payload::text)));
  elsif p_denied not in ('AUTHZ_DENIED', 'AUTHZ_REASON_REQUIRED', 'AUTHZ_TENANT_FORBIDDEN') then
    return writ_data.refusal('SIGNAL_INVALID_PAYLOAD', 'p_denied is a code of authorizeSignal.');
  elsif p_payload is not null and writ_data.as_jsonb(p_payload) is null then
    return writ_data.refusal('SIGNAL_INVALID_PAYLOAD',
      'The payload holds a character that a database cannot.');
  end if;

  -- Lock, and check under the lock.
  select * into v_run from writ_data.run
  where run_id = p_run_id and tenant_id = coalesce(p_tenant_id, tenant_id)
    and tenant_id = coalesce(v_only, tenant_id)
  for no key update;
  if not found then
    return writ_data.refusal('RUN_NOT_FOUND', p_run_id::text);
  elsif v_run.governed_by is not null then
    return writ_data.refusal('run_is_governed',
      format('It executes governance job %s.', v_run.governed_by));
  elsif v_run.engine <> 'native' then
    return writ_data.refusal('CAPABILITIES_NOT_SUPPORTED',
      format('The run is of engine %s.', v_run.engine));
  end if;
  select d.taken_by into v_taken from writ_data.run_delivery d
  where d.run_id = p_run_id and d.delivery_id = p_delivery_id;
  if found then
    return jsonb_build_object('duplicate', true, 'step', v_taken);
  elsif v_run.status in ('COMPLETED', 'FAILED', 'CANCELLED') or v_run.ending is not null then
    return writ_data.refusal('RUN_TERMINAL',
      format('Run %s is %s.', p_run_id, coalesce('ending as ' || v_run.ending, v_run.status)));
  elsif not exists (
    select from writ_data.plan_step x where x.plan_no = v_run.plan_no and x.event = p_event) then
    return writ_data.refusal('SIGNAL_INVALID_PAYLOAD',
      format('No step of the plan waits for %s.', p_event));
  end if;
  select writ_data.misfit(coalesce(p_payload::jsonb, 'null'), x.schema) into v_wrong
  from writ_data.plan_step x
  where x.plan_no = v_run.plan_no and x.event = p_event and x.schema is not null
  order by writ_data.misfit(coalesce(p_payload::jsonb, 'null'), x.schema) is null
  limit 1;
  if v_wrong is not null then
    return writ_data.refusal('SIGNAL_INVALID_PAYLOAD', format('%s: %s.', p_event, v_wrong));
  elsif (select count(*) from (
      select from writ_data.run_delivery d
      where d.run_id = p_run_id and d.taken_by is null limit 1000) x) >= 1000 then
    return writ_data.refusal('OUTBOX_RATE_LIMIT_EXCEEDED',
      'A thousand deliveries of this run wait for a step.');
  end if;

  -- Write.
  if p_denied is not null then
    -- Readers read the whole log of a run, so denials must not fill it.
    if (select count(*) from (
        select e.event_type, e.at from writ_data.run_event e
        where e.run_id = p_run_id
        order by e.run_seq desc
        limit v_denials) x
      where x.event_type = 'SignalRejected' and x.at > v_now - interval '1 minute')
      >= v_denials then
      return writ_data.refusal('OUTBOX_RATE_LIMIT_EXCEEDED',
        format('%s deliveries were denied in a minute.', v_denials));
    end if;
    v_refused_id := writ_data.uuidv7();
    perform writ_data.append_events(array[p_run_id], array['SignalRejected'], array['RUN'],
      array[v_refused_id::text], array[null::integer],
      array[jsonb_build_object('signalId', v_refused_id, 'type', 'DELIVER', 'principal', p_actor,
        'code', p_denied, 'event', p_event)],
      null, v_refused_id, 'fn_run_deliver', p_actor, v_now);
    return jsonb_build_object('denied', p_denied);
  end if;
  insert into writ_data.run_delivery (run_id, delivery_id, event, payload, delivered_at,
    delivered_by)
  values (p_run_id, p_delivery_id, p_event, p_payload, v_now, p_actor)
  returning * into v_delivery;
  select x.step_id, x.attempt, x.step_no, x.job_id into v_open
  from writ_data.open_steps(p_run_id) x
  join writ_data.plan_step y
    on y.plan_no = v_run.plan_no and y.step_no = x.step_no and y.event = p_event
  where x.type = 'wait'
  limit 1;
  if found then
    delete from writ_data.job_wait where ctid = (
      select w.ctid from writ_data.job_wait w where w.job_id = v_open.job_id
      for update skip locked);
    if found then
      select * into v_step from writ_data.plan_step
      where plan_no = v_run.plan_no and step_no = v_open.step_no;
      perform writ_data.take_delivery(p_run_id, v_step, v_open.attempt, v_open.job_id, v_delivery,
        p_actor, v_now);
      perform writ_data.move_run(p_run_id, v_step.next, p_actor, v_now);
      return jsonb_build_object('duplicate', false, 'step', v_step.step_id);
    end if;
  end if;
  return jsonb_build_object('duplicate', false, 'step', null);
end $$;
