-- Enqueues N jobs in one statement per table: the body of fn_job_enqueue_many.
-- Answers: {enqueued: n, duplicates: [{index, job_id, same_payload}],
--          refused: [{index, reason, detail}]}. Each job is taken or refused by itself; with
--          p_atomic one refusal refuses all, and nothing is enqueued.
-- Refuses: job_substrate_disabled, actor_required, invalid_actor, invalid_jobs, batch_too_large; of
--          a job what `judged` lists. With p_by_gate also what only Writ may enqueue: reserved
--          kinds, keys of schedules and consumers, and jobs of another tenant than the caller's. A
--          correlation id has at most 2,000 bytes: it stands in an index.
-- Locks:   keys, in order, so that two calls with the same keys cannot deadlock.
create or replace function writ_data.enqueue_jobs(
  p_jobs jsonb,
  p_actor text,
  p_tenant_id text default 'default',
  p_atomic boolean default false,
  p_by_gate boolean default false   -- an outside caller made these jobs
) returns jsonb
language plpgsql
set enable_nestloop = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_now timestamptz := writ.now();

  -- What a job is measured by.
  v_oldest uuid := writ_data.uuid_floor(clock_timestamp() - interval '1 hour');
  v_newest uuid := writ_data.uuid_floor(clock_timestamp() + interval '5 minutes');
  v_furthest timestamptz := v_now + interval '100 years';
  v_default_attempts smallint :=
    (writ_data.setting('queue.retry.max_attempts_default'))::smallint;
  v_max_bytes integer := (writ_data.setting('queue.payload.max_bytes'))::integer;
  v_max_safe_bytes integer := (writ_data.setting('queue.safe_payload.max_bytes'))::integer;
  v_tenant text;                    -- the only one the caller may enqueue for; null: any

  v_total integer;
  v_enqueued uuid[];
  v_kinds text[];                   -- of jobs that can be claimed at once
  v_homeless jsonb;                 -- jobs whose lane does not exist yet
  v_refused jsonb;
  v_refused_n integer;
  v_duplicates jsonb;
  v_taken integer[];                -- indexes whose id a different job has
  v_rest integer[];                 -- the other indexes
  v_answer jsonb;                   -- about these
  v_constraint text;                -- that was violated; empty: there is no partition
begin
  -- Validate the call.

  if not coalesce((writ_data.setting('queue.job_substrate.enabled'))::boolean, false) then
    return writ_data.refusal('job_substrate_disabled');
  elsif coalesce(btrim(p_actor), '') = '' then
    return writ_data.refusal('actor_required');
  elsif length(p_actor) > 200 then
    return writ_data.refusal('invalid_actor');
  elsif jsonb_typeof(p_jobs) is distinct from 'array' then
    return writ_data.refusal('invalid_jobs');
  elsif jsonb_array_length(p_jobs) > 100000 then
    return writ_data.refusal('batch_too_large', 'A call takes at most 100,000 jobs.');
  end if;
  if p_by_gate then
    v_tenant := writ_data.caller_tenant();
  end if;

  -- Judge each job, and write the good ones.

  perform pg_current_xact_id();     -- before a lane is looked up: see open_lane
  begin
    with item as not materialized (
      select
        (i.n - 1)::integer as index,
        i.id,
        i.kind,
        i.key,
        coalesce(i.tenant, p_tenant_id) as tenant,
        -- An input of null is an input: it differs from a missing one.
        case
          when i.input is not null then i.input::text
          when p_jobs -> (i.n - 1)::integer ? 'input' then 'null'
        end as body,
        nullif(i.safe_payload, '{}') as safe_payload,
        coalesce(i.priority, 0) as priority,
        coalesce(
          i.process_after, v_now + i.delay_ms * interval '1 millisecond', v_now
        ) as process_after,
        coalesce(
          i.deadline_at, v_now + i.deadline_ms * interval '1 millisecond'
        ) as deadline_at,
        coalesce(i.max_attempts, k.max_attempts, v_default_attempts) as max_attempts,
        k.event_domain,
        k.executor as kind_executor,
        coalesce(i.executor, k.executor) as executor,
        i.source_ref,
        i.target_ref,
        i.payload_ref,
        coalesce(i.payload_classification, 'safe_metadata') as payload_classification,
        i.correlation_id,
        i.causation_event_id,
        i.parent_job_id,
        i.workflow_id,
        coalesce(i.source_system, k.source_system) as source_system,
        -- Only a kind that has limits tells its jobs apart by key.
        case
          when k.limit_concurrency is not null or k.limit_rate is not null then i.limit_key
        end as limit_key,
        i.traceparent
      from rows from (jsonb_to_recordset(p_jobs) as (
        id uuid, kind text, key text, tenant text, input jsonb, safe_payload jsonb,
        priority smallint, process_after timestamptz, delay_ms bigint, deadline_at timestamptz,
        deadline_ms bigint, max_attempts smallint, executor text, source_ref text,
        target_ref text, payload_ref text, payload_classification text, correlation_id text,
        causation_event_id uuid, parent_job_id uuid, workflow_id uuid, source_system text,
        limit_key text, traceparent text
      )) with ordinality i(
        id, kind, key, tenant, input, safe_payload, priority, process_after, delay_ms, deadline_at,
        deadline_ms, max_attempts, executor, source_ref, target_ref, payload_ref,
        payload_classification, correlation_id, causation_event_id, parent_job_id, workflow_id,
        source_system, limit_key, traceparent, n
      )
      left join writ_data.job_kind k on k.job_kind = i.kind
    ), judged as materialized (
      select *, case
          when p_by_gate and writ_data.reserved_kind(kind) then 'reserved_job_kind'
          when kind_executor is null and executor is not null and executor not in (
            'DOT', 'Agent', 'Hermes', 'Codex', 'PG_worker', 'external_worker',
            'future_Kestra_adapter'
          ) then 'unknown_executor'
          when kind_executor is null then 'unknown_job_kind'
          when executor not in (
            'DOT', 'Agent', 'Hermes', 'Codex', 'PG_worker', 'external_worker',
            'future_Kestra_adapter'
          ) then 'unknown_executor'
          when executor <> kind_executor then 'executor_mismatch'
          when id is null or id < v_oldest or id > v_newest or substr(id::text, 15, 1) <> '7'
            or substr(id::text, 20, 1) not in ('8', '9', 'a', 'b') then 'invalid_job_id'
          when tenant is null or tenant = '' or length(tenant) > 200 then 'invalid_tenant'
          when tenant <> v_tenant then 'tenant_forbidden'
          when key = '' or octet_length(key) > 1000 then 'invalid_idempotency_key'
          when p_by_gate and (starts_with(key, 'schedule:') or starts_with(key, 'consumer:'))
            then 'reserved_idempotency_key'
          when limit_key = '' or octet_length(limit_key) > 200 then 'invalid_limit_key'
          when octet_length(body) > v_max_bytes then 'payload_too_large'
          when body is not null and payload_ref is not null then 'invalid_payload_ref'
          when octet_length(
            concat(source_ref, target_ref, payload_ref, correlation_id, source_system)
          ) > 8192 or octet_length(correlation_id) > 2000 then 'payload_too_large'
          when safe_payload is not null and octet_length(safe_payload::text) > v_max_safe_bytes
            then 'payload_too_large'
          when safe_payload is not null and jsonb_typeof(safe_payload) <> 'object'
            then 'invalid_safe_payload'
          when safe_payload is not null and writ_data.forbidden_key(safe_payload) is not null
            then 'forbidden_payload_key'
          when payload_classification not in ('safe_metadata', 'restricted')
            then 'invalid_payload_classification'
          when max_attempts < 1 then 'invalid_max_attempts'
          when process_after not between '2000-01-01Z' and v_furthest
            or deadline_at not between '2000-01-01Z' and v_furthest then 'invalid_job'
          when btrim(source_system) = '' then 'invalid_job'
          when not (
            traceparent like '00-________________________________-________________-__'
            and traceparent not like '%-%-%-%-%' and traceparent !~ '[^0-9a-f-]'
          ) then 'invalid_traceparent'
          when workflow_id is not null and not writ_data.workflow_known(workflow_id, tenant)
            then 'unknown_workflow'
          when p_by_gate and parent_job_id is not null
            and not writ_data.job_known(parent_job_id, tenant)
            then 'unknown_parent_job'
          when p_by_gate and causation_event_id is not null
            and not writ_data.fact_known(causation_event_id)
            then 'event_not_found'
        end as reason
      from item
    ), good as (
      select * from judged
      where reason is null
        and (not p_atomic or not exists (select from judged where reason is not null))
    ), key_taken as (
      insert into writ_data.job_key (tenant_id, job_kind, idempotency_key, job_id)
      select tenant, kind, key, id from good
      -- A scalar, so that it is looked up by its id: a join would read the whole table, since
      -- nested loops are off here.
      where key is not null and (
        select j.job_id from writ_data.job j
        where j.job_id = good.id and j.job_id between v_oldest and v_newest
      ) is null
      order by tenant, kind, key, index
      on conflict do nothing
      returning job_id
    ), place as materialized (
      select nextval('writ_data.job_ready_seq') as seq
    ), enqueued as (
      insert into writ_data.job (
        job_id, tenant_id, job_kind, event_domain, idempotency_key, limit_key,
        source_ref, target_ref, payload_ref, input, safe_payload, payload_classification,
        executor, max_attempts, priority, process_after, deadline_at,
        correlation_id, causation_event_id, parent_job_id, workflow_id,
        enqueued_by, enqueued_at, source_system, ready_seq, traceparent
      )
      select
        id, tenant, kind, event_domain, key, limit_key,
        source_ref, target_ref, payload_ref, body::json, safe_payload, payload_classification,
        executor, max_attempts, priority, process_after, deadline_at,
        correlation_id, causation_event_id, parent_job_id, workflow_id,
        p_actor, v_now, source_system,
        case when process_after <= v_now then (select seq from place) end, traceparent
      from good
      where key is null or id in (select job_id from key_taken)
      order by index
      on conflict do nothing
      returning job_id, job_kind, tenant_id, limit_key, priority, process_after, deadline_at
    ), call as materialized (
      select
        job_kind, tenant_id, coalesce(limit_key, '') as limit_key, priority, deadline_at,
        array_agg(job_id) as ids,
        (row_number() over (
          partition by job_kind, tenant_id, coalesce(limit_key, ''), priority order by deadline_at
        ))::integer as n
      from enqueued
      where process_after <= v_now
      group by job_kind, tenant_id, coalesce(limit_key, ''), priority, deadline_at
    ), housed as materialized (
      select call.*, (
          select l.lane_id from writ_data.lane l
          where l.job_kind = call.job_kind and l.tenant_id = call.tenant_id
            and l.limit_key = call.limit_key and l.priority = call.priority
            and not l.alone and l.closing is null
            and current_setting('transaction_isolation') = 'read committed'
          limit 1
        ) as lane_id
      from call
    ), ready as (
      insert into writ_data.job_ready (
        lane_id, seq, part, job_ids, attempts, execution_no, deadline_at
      )
      select
        lane_id, (select seq from place), n * 1000 + part,
        ids[part * 100 + 1:part * 100 + 100], 0, 1, deadline_at
      from housed
      cross join lateral generate_series(0, (cardinality(ids) - 1) / 100) part
      where lane_id is not null
    ), waiting as (
      insert into writ_data.job_wait (
        due_at, job_kind, tenant_id, limit_key, priority, job_id, attempts, execution_no,
        deadline_at, reason
      )
      select
        process_after, job_kind, tenant_id, limit_key, priority, job_id, 0, 1,
        deadline_at, 'delay'
      from enqueued
      where process_after > v_now
    )
    select
      (select count(*) from judged),
      (select array_agg(job_id) from enqueued),
      (select array_agg(distinct job_kind) from call),
      (
        select jsonb_agg(jsonb_build_object(
          'kind', job_kind, 'tenant', tenant_id, 'key', limit_key, 'priority', priority,
          'deadline', deadline_at, 'seq', (select seq from place), 'n', n, 'ids', to_jsonb(ids)
        ) order by job_kind, tenant_id, limit_key, priority)
        from housed
        where lane_id is null
      ),
      (
        select jsonb_agg(jsonb_build_object('index', index, 'reason', reason, 'detail',
          case reason
            when 'reserved_job_kind' then kind
            when 'unknown_job_kind' then left(kind, 200)
            when 'unknown_executor' then left(executor, 200)
            when 'executor_mismatch' then
              format('%s is of executor %s, not %s', kind, kind_executor, executor)
            when 'forbidden_payload_key' then writ_data.forbidden_key(safe_payload)
            when 'payload_too_large' then case
              when octet_length(body) > v_max_bytes then format(
                'The input has %s bytes; queue.payload.max_bytes allows %s.',
                octet_length(body), v_max_bytes
              )
              when octet_length(correlation_id) > 2000 then format(
                'The correlation id has %s bytes; at most 2000 are allowed.',
                octet_length(correlation_id)
              )
              when octet_length(safe_payload::text) > v_max_safe_bytes then format(
                'safe_payload has %s bytes; queue.safe_payload.max_bytes allows %s.',
                octet_length(safe_payload::text), v_max_safe_bytes
              )
              else format(
                'The references, correlation id and source system have %s bytes together; '
                'at most 8192 are allowed.',
                octet_length(
                  concat(source_ref, target_ref, payload_ref, correlation_id, source_system)
                )
              )
            end
            when 'unknown_parent_job' then parent_job_id::text
            when 'event_not_found' then causation_event_id::text
            when 'invalid_job' then
              'Its times lie between the year 2000 and a hundred years from now, and its source '
              'system is not blank.'
          end
        ) order by index)
        from judged
        where reason is not null
      )
    into v_total, v_enqueued, v_kinds, v_homeless, v_refused;

    if v_homeless is not null then
      perform writ_data.house(v_homeless);
    end if;

    -- Find the duplicates, in a second statement and so with a second snapshot: it sees the rows
    -- that the first statement met and could not insert.

    v_refused_n := coalesce(jsonb_array_length(v_refused), 0);
    if coalesce(cardinality(v_enqueued), 0) + v_refused_n < v_total
      and not (p_atomic and v_refused_n > 0)
    then
      select
        jsonb_agg(jsonb_build_object(
          'index', d.index, 'job_id', d.job_id, 'same_payload', d.same_payload
        ) order by d.index) filter (where d.known and (
          d.job_id <> d.id or d.nth > 1 or not d.id = any (coalesce(v_enqueued, '{}'))
        )),
        array_agg(d.index) filter (where not d.known)
      into v_duplicates, v_taken
      from (
        select
          (x.n - 1)::integer as index,
          j.job_id,
          j.input::jsonb is not distinct from x.job -> 'input'
            and j.payload_ref is not distinct from i.payload_ref as same_payload,
          i.id,
          k.known,
          row_number() over (partition by i.id, k.known order by x.n) as nth
        from jsonb_array_elements(p_jobs) with ordinality x(job, n)
        cross join lateral jsonb_to_record(x.job)
          i(id uuid, kind text, key text, tenant text, payload_ref text)
        left join lateral (
          select k.job_id from writ_data.job_key k
          where k.tenant_id = coalesce(i.tenant, p_tenant_id) and k.job_kind = i.kind
            and k.idempotency_key = i.key
          offset 0
        ) t on true
        left join lateral (
          select x.* from writ_data.job x where x.job_id = coalesce(t.job_id, i.id) offset 0
        ) j on true
        -- The key may be one that this statement wrote for an id that is taken.
        cross join lateral (
          select coalesce(
            j.tenant_id = coalesce(i.tenant, p_tenant_id) and j.job_kind = i.kind
              and (t.job_id is null or j.idempotency_key is not distinct from i.key),
            false
          ) as known
        ) k
        -- A refused job has no answer but its refusal: nothing about another tenant's jobs.
        where not exists (
          select from jsonb_to_recordset(v_refused) r(index integer) where r.index = x.n - 1
        )
      ) d;

      if v_taken is not null then
        raise exception using errcode = 'WR003', message = 'take back';
      end if;
    end if;
  exception
  when sqlstate 'WR003' then
    -- Ids of some are taken by different jobs, of other tenants or kinds: nothing stays of these,
    -- not even a key. The answer does not say whose ids they are.
    select
      jsonb_agg(jsonb_build_object(
        'index', n, 'reason', 'invalid_job_id',
        'detail', 'A supplied job id is taken by a different job.'
      ) order by n) filter (where n = any (v_taken)),
      coalesce(array_agg(n order by n) filter (where n <> all (v_taken)), '{}')
    into v_refused, v_rest
    from generate_series(0, jsonb_array_length(p_jobs) - 1) n;
    if p_atomic or v_rest = '{}' then
      return jsonb_build_object(
        'enqueued', 0, 'duplicates', '[]'::jsonb, 'refused', v_refused
      );
    end if;
    v_answer := writ_data.enqueue_jobs(
      (select jsonb_agg(p_jobs -> n order by u.o) from unnest(v_rest) with ordinality u(n, o)),
      p_actor, p_tenant_id, false, p_by_gate
    );
    if v_answer ? 'reason' then
      return v_answer;
    end if;
    return jsonb_build_object(
      'enqueued', v_answer -> 'enqueued',
      'duplicates', (
        select coalesce(jsonb_agg(
          x || jsonb_build_object('index', v_rest[(x ->> 'index')::integer + 1])
        ), '[]')
        from jsonb_array_elements(v_answer -> 'duplicates') x
      ),
      'refused', (
        select jsonb_agg(x order by (x ->> 'index')::integer)
        from (
          select y || jsonb_build_object('index', v_rest[(y ->> 'index')::integer + 1]) as x
          from jsonb_array_elements(v_answer -> 'refused') y
          union all
          select jsonb_array_elements(v_refused)
        ) z
      )
    );
  when check_violation then
    get stacked diagnostics v_constraint = constraint_name;
    if v_constraint = '' and writ_data.open_days() then
      return writ_data.enqueue_jobs(p_jobs, p_actor, p_tenant_id, p_atomic, p_by_gate);
    end if;
    raise;
  when data_exception or datatype_mismatch then
    -- A value does not fit its column: find out whose, one by one. Each takes a subtransaction, so
    -- that a large call with one such job is refused as a whole.
    if jsonb_array_length(p_jobs) > 1000 then
      return writ_data.refusal('invalid_jobs', left(sqlerrm, 200));
    elsif jsonb_array_length(p_jobs) > 1 then
      return writ_data.enqueue_each(p_jobs, p_actor, p_tenant_id, p_atomic, p_by_gate);
    end if;
    return jsonb_build_object(
      'enqueued', 0, 'duplicates', '[]'::jsonb,
      'refused', jsonb_build_array(jsonb_build_object(
        'index', 0, 'reason', 'invalid_job', 'detail', left(sqlerrm, 500)
      ))
    );
  end;

  -- Record, wake and answer.

  if v_enqueued is not null then
    perform writ_data.record(
      'fn_job_enqueue', p_actor, v_now, v_enqueued,
      array['dot.job.enqueued'], array[1], array[cardinality(v_enqueued)]
    );
    if v_kinds is not null then
      perform writ_data.wake(v_kinds, v_now);
    end if;
  end if;
  return jsonb_build_object(
    'enqueued', coalesce(cardinality(v_enqueued), 0),
    'duplicates', coalesce(v_duplicates, '[]'),
    'refused', coalesce(v_refused, '[]')
  );
end $$;
