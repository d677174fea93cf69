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
  v_lane bigint; v_xid xid8; v_batch uuid; v_woken boolean; v_unlike boolean; v_inputs text[]; v_carried boolean;
begin
  -- Every query costs more to set up than to run: as few as possible.
  select array(select c.value from writ_data.dot_config c
      where c.key = any ('{queue.job_substrate.enabled,queue.payload.max_bytes,queue.retry.max_attempts_default}') order by c.key),
    k.max_attempts, k.event_domain, k.executor, k.source_system
  into v_settings, v_attempts, v_domain, v_executor, v_source
  from (select p_kind as kind) p left join writ_data.job_kind k on k.job_kind = p.kind;
  if v_settings[1] <> 'true' then
    return writ_data.refusal('job_substrate_disabled');
  elsif coalesce(btrim(p_actor), '') = '' then
    return writ_data.refusal('actor_required');
  elsif v_n is null or p_inputs is not null and (json_typeof(p_inputs) <> 'array' or json_array_length(p_inputs) <> v_n) then
    return writ_data.refusal('invalid_jobs');
  elsif v_n = 0 then
    return jsonb_build_object('enqueued', 0, 'duplicates', '[]'::jsonb, 'refused', '[]'::jsonb);
  end if;
  v_attempts := coalesce(v_attempts, v_settings[3]::smallint); v_max_bytes := v_settings[2]::integer;
  v_oldest := writ_data.uuid_floor(v_clock - interval '1 hour'); v_newest := writ_data.uuid_floor(v_clock + interval '5 minutes');
  -- What is wrong with all of them, or with one alone, its id, the size or the text of its input, is found out and answered by the long way.
  v_unlike := v_executor is null or p_priority is null or coalesce(p_tenant_id, '') = '' or length(p_tenant_id) > 200 or not writ_data.visible(p_tenant_id)
    or v_lo is null or v_hi is null or v_lo < v_oldest or v_hi > v_newest or get_byte(uuid_send(v_lo), 6) & 240 <> 112 or get_byte(uuid_send(v_lo), 8) & 192 <> 128
    or coalesce(position('\u' in p_inputs::text) > 0 and p_inputs::text ~* '\\u(0000|d[89a-f])', false);
  if not v_unlike and v_n > 1 then
    v_unlike := exists (select from unnest(p_ids, array[null::uuid] || p_ids) u(id, before) where u.id is null and u.before is distinct from v_hi or u.id <= u.before
      or get_byte(uuid_send(u.id), 6) & 240 <> 112 or get_byte(uuid_send(u.id), 8) & 192 <> 128);
  end if;
  if not v_unlike and octet_length(p_inputs::text) > v_max_bytes then
    v_unlike := exists (select from json_array_elements(p_inputs) u(input) where octet_length(u.input::text) > v_max_bytes);
  end if;
  if v_unlike then
    return writ_data.enqueue_unlike(p_kind, p_ids, p_inputs, p_actor, p_tenant_id, p_priority, p_atomic);
  end if;

  if p_inputs is not null then
    v_inputs := array(select e::text from json_array_elements(p_inputs) e);
  end if;
  v_carried := p_inputs is null or octet_length(p_inputs::text) <= 1000 * v_n; -- small inputs travel with the ready row too
  v_xid := pg_current_xact_id();
  v_lane := writ_data.open_lane(p_kind, p_tenant_id, null, p_priority, false);
  begin
    with place as materialized (
      select nextval('writ_data.job_ready_seq') as seq
    ), enqueued as (
      insert into writ_data.job (job_id, tenant_id, job_kind, event_domain, input, payload_classification, executor, max_attempts, priority,
        process_after, enqueued_by, enqueued_at, source_system, ready_seq)
      select u.id, p_tenant_id, p_kind, v_domain, u.input::json, 'safe_metadata', v_executor, v_attempts, p_priority,
        v_now, p_actor, v_now, v_source, (select seq from place)
      from unnest(p_ids, v_inputs) u(id, input)
    )
    insert into writ_data.job_ready (lane_id, seq, part, job_ids, attempts, execution_no, inputs, max_attempts)
    select v_lane, place.seq, part, p_ids[part * 100 + 1:part * 100 + 100], 0, 1, case when v_carried then v_inputs[part * 100 + 1:part * 100 + 100] end, case when v_carried then v_attempts end
    from place cross join generate_series(0, (v_n - 1) / 100) part;
  exception when unique_violation then
    return writ_data.enqueue_unlike(p_kind, p_ids, p_inputs, p_actor, p_tenant_id, p_priority, p_atomic); -- sent again, after an answer that was lost
  end;
  v_batch := writ_data.record('fn_job_enqueue', p_actor, v_now, p_ids, array['dot.job.enqueued'], array[1], array[v_n]);
  v_woken := writ_data.wake(array[p_kind], v_now);
  return jsonb_build_object('enqueued', v_n, 'duplicates', '[]'::jsonb, 'refused', '[]'::jsonb);
end $$;
