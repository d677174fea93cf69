-- Something from outside for a run: the step that waits for it ends with it; if none does yet, it is kept. With the same p_delivery_id again it changes nothing.
-- Callers: writ_producer, writ_server
create or replace function writ.fn_run_deliver(p_run_id uuid, p_event text, p_payload json, p_delivery_id text, p_actor text, p_tenant_id text default null) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
declare
  v_now timestamptz := writ.now(); r writ_data.run; s writ_data.plan_step; o record; v_delivery writ_data.run_delivery; v_taken text;
begin
  if coalesce(btrim(p_actor), '') = '' then
    return writ_data.refusal('actor_required');
  elsif coalesce(p_event, '') = '' or length(p_event) > 200 or coalesce(p_delivery_id, '') = '' or length(p_delivery_id) > 200 then
    return writ_data.refusal('SIGNAL_INVALID_PAYLOAD', 'A delivery has the name of an event and an id, of at most 200 characters each.');
  elsif octet_length(p_payload::text) > (writ_data.setting('runs.signal.max_bytes'))::integer then
    return writ_data.refusal('SIGNAL_INVALID_PAYLOAD', format('A delivery has %s bytes at most, and this one %s.', writ_data.setting('runs.signal.max_bytes'), octet_length(p_payload::text)));
  end if;
  if p_payload is not null and writ_data.as_jsonb(p_payload) is null then
    return writ_data.refusal('SIGNAL_INVALID_PAYLOAD', 'The payload holds a character that a database cannot.');
  end if;
  select * into r from writ_data.run where run_id = p_run_id and tenant_id = coalesce(p_tenant_id, tenant_id) and writ_data.visible(tenant_id) for no key update;
  if not found then
    return writ_data.refusal('RUN_NOT_FOUND', p_run_id::text);
  end if;
  select d.taken_by into v_taken from writ_data.run_delivery d where d.run_id = p_run_id and d.delivery_id = p_delivery_id;
  if found then
    return jsonb_build_object('duplicate', true, 'step', v_taken);
  elsif r.status in ('COMPLETED', 'FAILED', 'CANCELLED') or r.ending is not null then
    return writ_data.refusal('RUN_TERMINAL', format('Run %s is %s.', p_run_id, coalesce('ending as ' || r.ending, r.status)));
  elsif not exists (select from writ_data.plan_step x where x.plan_no = r.plan_no and x.event = p_event) then
    return writ_data.refusal('SIGNAL_INVALID_PAYLOAD', format('No step of the plan waits for %s.', p_event));
  end if;
  insert into writ_data.run_delivery (run_id, delivery_id, event, payload, delivered_at, delivered_by) values (p_run_id, p_delivery_id, p_event, p_payload, v_now, p_actor) returning * into v_delivery;
  select x.step_id, x.attempt, x.step_no, x.job_id into o from writ_data.open_steps(p_run_id) x join writ_data.plan_step y on y.plan_no = r.plan_no and y.step_no = x.step_no and y.event = p_event where x.type = 'wait' limit 1;
  if found then
    delete from writ_data.job_wait where ctid = (select w.ctid from writ_data.job_wait w where w.job_id = o.job_id for update skip locked);
    if found then
      select * into s from writ_data.plan_step where plan_no = r.plan_no and step_no = o.step_no;
      perform writ_data.take_delivery(p_run_id, s, o.attempt, o.job_id, v_delivery, p_actor, v_now);
      perform writ_data.move_run(p_run_id, s.next, p_actor, v_now);
      return jsonb_build_object('duplicate', false, 'step', s.step_id);
    end if;
  end if;
  return jsonb_build_object('duplicate', false, 'step', null);
end $$;
