-- gate: workflow_admin, dot_executor
-- Enqueues jobs that are alike in everything but their id and input: one kind, tenant and priority, to be done now. The short way for the ordinary call, with
-- the same answers as fn_job_enqueue_many, which takes everything else. p_ids are UUIDv7, fixed by the caller; p_inputs is a JSON array with the input of
-- each, or null when they have none.
create or replace function writ.fn_job_enqueue_alike(p_kind text, p_ids uuid[], p_inputs json, p_actor text, p_tenant_id text default 'default',
  p_priority smallint default 0, p_atomic boolean default false) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan as $$
declare
  v_now timestamptz := writ.now(); v_clock timestamptz := clock_timestamp();
  v_n integer := cardinality(p_ids); v_lo uuid := p_ids[1]; v_hi uuid := p_ids[v_n]; v_oldest uuid; v_newest uuid;
  v_settings jsonb[]; v_attempts smallint; v_max_bytes integer; v_domain text; v_executor text; v_source text;
  v_reason text; v_lane bigint; v_xid xid8; v_batch uuid; v_woken boolean;
begin
  v_settings := array(select c.value from writ_data.dot_config c
    where c.key = any ('{queue.job_substrate.enabled,queue.payload.max_bytes,queue.retry.max_attempts_default}') order by c.key);
  if v_settings[1] <> 'true' then
    return writ_data.refusal('job_substrate_disabled');
  elsif coalesce(btrim(p_actor), '') = '' then
    return writ_data.refusal('actor_required');
  elsif v_n is null or v_n = 0 or p_inputs is not null and (json_typeof(p_inputs) <> 'array' or json_array_length(p_inputs) <> v_n) then
    return writ_data.refusal('invalid_jobs');
  end if;
  select k.max_attempts, k.event_domain, k.executor, k.source_system into v_attempts, v_domain, v_executor, v_source from writ_data.job_kind k where k.job_kind = p_kind;
  v_attempts := coalesce(v_attempts, v_settings[3]::smallint); v_max_bytes := v_settings[2]::integer;
  v_oldest := writ_data.uuid_floor(v_clock - interval '1 hour'); v_newest := writ_data.uuid_floor(v_clock + interval '5 minutes');
  v_reason := case
    when v_executor is null then 'unknown_job_kind'
    when coalesce(p_tenant_id, '') = '' or length(p_tenant_id) > 200 then 'invalid_tenant'
    when not writ_data.visible(p_tenant_id) then 'tenant_forbidden'
  end;
  -- What is wrong with one of them alone, its id or the size of its input, is found out and answered by the long way.
  if v_reason is null and (v_lo is null or v_hi is null or v_lo < v_oldest or v_hi > v_newest
      or exists (select from unnest(p_ids, array[null::uuid] || p_ids) u(id, before) where u.id is null and u.before is distinct from v_hi or u.id <= u.before
        or get_byte(uuid_send(u.id), 6) & 240 <> 112 or get_byte(uuid_send(u.id), 8) & 192 <> 128)
      or octet_length(p_inputs::text) > v_max_bytes and exists (select from json_array_elements(p_inputs) u(input) where octet_length(u.input::text) > v_max_bytes)
      or position('\u0000' in p_inputs::text) > 0) then
    return writ_data.enqueue_unlike(p_kind, p_ids, p_inputs, p_actor, p_tenant_id, p_priority, p_atomic);
  elsif v_reason is not null then
    return jsonb_build_object('enqueued', 0, 'duplicates', '[]'::jsonb, 'refused', (select jsonb_agg(jsonb_strip_nulls(jsonb_build_object('index', n - 1, 'reason', v_reason,
      'detail', case v_reason when 'unknown_job_kind' then p_kind end)) order by n) from generate_series(1, v_n) n));
  end if;

  v_xid := pg_current_xact_id();
  v_lane := writ_data.open_lane(p_kind, p_tenant_id, null, p_priority, false);
  begin
  with place as materialized (
    select nextval('writ_data.job_ready_seq') as seq
  ), enqueued as (
    insert into writ_data.job (job_id, tenant_id, job_kind, event_domain, input, payload_classification, executor, max_attempts, priority,
      process_after, enqueued_by, enqueued_at, source_system, ready_seq)
    select u.id, p_tenant_id, p_kind, v_domain, u.input, 'safe_metadata', v_executor, v_attempts, p_priority,
      v_now, p_actor, v_now, v_source, (select seq from place)
    from rows from (unnest(p_ids), json_array_elements(p_inputs)) u(id, input)
  )
  insert into writ_data.job_ready (lane_id, seq, part, job_ids, attempts, execution_no)
  select v_lane, place.seq, part, p_ids[part * 100 + 1:part * 100 + 100], 0, 1 from place cross join generate_series(0, (v_n - 1) / 100) part;
  exception when unique_violation then
    return writ_data.enqueue_unlike(p_kind, p_ids, p_inputs, p_actor, p_tenant_id, p_priority, p_atomic); -- sent again, after an answer that was lost
  end;
  v_batch := writ_data.record('fn_job_enqueue', p_actor, v_now, p_ids, array['dot.job.enqueued'], array[1], array[v_n]);
  v_woken := writ_data.wake(array[p_kind], v_now);
  return jsonb_build_object('enqueued', v_n, 'duplicates', '[]'::jsonb, 'refused', '[]'::jsonb);
end $$;
