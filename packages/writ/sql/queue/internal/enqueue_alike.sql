-- Enqueues jobs that differ only in id and input: the body of fn_job_enqueue_alike. A job with a
-- place in a trace is looked up when it is claimed; the others travel with their ready row.
-- Answers and refuses: as writ_data.enqueue_jobs does.
create or replace function writ_data.enqueue_alike(
  p_kind text,
  p_ids uuid[],
  p_inputs json,
  p_actor text,
  p_tenant_id text default 'default',
  p_priority smallint default 0,
  p_atomic boolean default false,
  p_traces text[] default null
) returns jsonb
language plpgsql
set plan_cache_mode = force_generic_plan
as $$
declare
  v_xid xid8 := pg_current_xact_id();  -- before a lane is looked up: see open_lane
  v_now timestamptz := writ.now();
  v_n integer := cardinality(p_ids);
  v_batch uuid;
  v_woken boolean;
begin
  -- One statement, because every query costs more to set up than to run. A call that cannot be
  -- taken as it is leaves `call` empty. A job that cannot be (its id, the size of its input) has no
  -- id here, and its table refuses that, as it refuses an id that exists: a call sent again after
  -- its answer was lost. The long way finds out what is wrong, and answers.
  with call as materialized (
    select
      k.executor,
      k.event_domain,
      k.source_system,
      coalesce(k.max_attempts, attempts.value::smallint) as max_attempts,
      coalesce(
        (
          select l.lane_id from writ_data.lane l
          where l.job_kind = p_kind and l.tenant_id = p_tenant_id and l.limit_key = ''
            and l.priority = p_priority and not l.alone and l.closing is null
            and current_setting('transaction_isolation') = 'read committed'
          limit 1
        ),
        writ_data.open_lane(p_kind, p_tenant_id, null, p_priority, false)
      ) as lane_id,
      nextval('writ_data.job_ready_seq') as seq,
      bytes.value::integer as max_bytes,
      writ_data.uuid_floor(clock_timestamp() - interval '1 hour') as oldest,
      writ_data.uuid_floor(clock_timestamp() + interval '5 minutes') as newest,
      -- Small inputs travel with the ready row too.
      case when p_traces is null and octet_length(p_inputs::text) <= 1000 * v_n then
        array(select e::text from json_array_elements(p_inputs) e)
      end as inputs
    from writ_data.job_kind k, writ_data.dot_config enabled, writ_data.dot_config bytes,
      writ_data.dot_config attempts
    where k.job_kind = p_kind
      and enabled.key = 'queue.job_substrate.enabled' and enabled.value = 'true'
      and bytes.key = 'queue.payload.max_bytes'
      and attempts.key = 'queue.retry.max_attempts_default'
      and v_n between 1 and 100000
      and p_priority is not null
      and btrim(p_actor) <> '' and length(p_actor) <= 200
      and p_tenant_id <> '' and length(p_tenant_id) <= 200
      and (p_traces is null or cardinality(p_traces) = v_n)
      and case
        when p_inputs is null then true
        when json_typeof(p_inputs) <> 'array' then false
        else json_array_length(p_inputs) = v_n
          -- chr(92) is a backslash, however the session reads string literals.
          and (
            position(chr(92) || 'u' in p_inputs::text) = 0
            or p_inputs::text !~* (chr(92) || chr(92) || 'u(0000|d[89a-f])')
          )
      end
  ), enqueued as (
    insert into writ_data.job (
      job_id, tenant_id, job_kind, event_domain, input, payload_classification, executor,
      max_attempts, priority, process_after, enqueued_by, enqueued_at, source_system, ready_seq,
      traceparent
    )
    select
      case
        when u.id between call.oldest and call.newest
          and get_byte(uuid_send(u.id), 6) & 240 = 112
          and get_byte(uuid_send(u.id), 8) & 192 = 128
          and (p_inputs is null or octet_length(u.input::text) <= call.max_bytes)
        then u.id
      end,
      p_tenant_id, p_kind, call.event_domain, u.input, 'safe_metadata', call.executor,
      call.max_attempts, p_priority, v_now, p_actor, v_now, call.source_system, call.seq,
      u.trace
    from call,
      rows from (unnest(p_ids), json_array_elements(p_inputs), unnest(p_traces))
        u(id, input, trace)
  ), ready as (
    insert into writ_data.job_ready (
      lane_id, seq, part, job_ids, attempts, execution_no, inputs, max_attempts
    )
    select
      call.lane_id, call.seq, part, p_ids[part * 100 + 1:part * 100 + 100], 0, 1,
      call.inputs[part * 100 + 1:part * 100 + 100],
      case
        when p_traces is null and (p_inputs is null or call.inputs is not null)
        then call.max_attempts
      end
    from call, generate_series(0, (v_n - 1) / 100) part
  )
  select
    writ_data.record(
      'fn_job_enqueue', p_actor, v_now, p_ids, array['dot.job.enqueued'], array[1], array[v_n]
    ),
    writ_data.wake(array[p_kind], v_now)
  into v_batch, v_woken
  from call;

  if v_batch is null then
    return writ_data.enqueue_unlike(
      p_kind, p_ids, p_inputs, p_actor, p_tenant_id, p_priority, p_atomic, p_traces
    );
  end if;
  return jsonb_build_object(
    'enqueued', v_n, 'duplicates', '[]'::jsonb, 'refused', '[]'::jsonb
  );
exception when unique_violation or not_null_violation or check_violation then
  -- A row without an id has no partition, which is a check_violation.
  return writ_data.enqueue_unlike(
    p_kind, p_ids, p_inputs, p_actor, p_tenant_id, p_priority, p_atomic, p_traces
  );
end $$;
