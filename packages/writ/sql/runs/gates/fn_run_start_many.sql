-- Starts runs, or refuses them one by one. It refuses a run that raises, and starts the others.
-- Callers: writ_producer, writ_server
-- p_runs:  an array of objects: run_id (a UUIDv7 that the caller has fixed, so that a repeated call
--          is recognised), plan_id, plan_version, sha256 (of the plan, as the caller knows it),
--          input, tenant, project, environment, request_id, priority, engine, engine_run_ref,
--          original_run_id, traceparent.
-- Answers: {runs: [{index, run_id, duplicate}], refused: [{index, reason, detail,
--          retry_after_ms}]}; retry_after_ms stands beside TENANT_OVERLOADED. A repeated request
--          answers the run that it started. The engine is `native`, or `external`: one that appends
--          to the log by itself. The login that starts a run of another engine is the one that may
--          append to its log (fn_run_append).
-- Refuses: job_substrate_disabled, actor_required, invalid_argument; each run: INVALID_RUN_ID,
--          invalid_tenant, TENANT_ACCESS_DENIED, reserved_job_kind, PLAN_NOT_FOUND,
--          PLAN_INTEGRITY_VALIDATION_FAILED, payload_too_large, invalid_idempotency_key,
--          invalid_traceparent, CAPABILITIES_NOT_SUPPORTED, TENANT_OVERLOADED, invalid_argument (a
--          field of another type, or a number that is out of range).
-- Locks:   the admission rules of the tenants, until the transaction ends.
create or replace function writ.fn_run_start_many(
  p_runs jsonb,
  p_actor text,
  p_tenant_id text default 'default'
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_now timestamptz := writ.now();
  v_max integer := (writ_data.setting('queue.payload.max_bytes'))::integer;
  v_oldest uuid := writ_data.uuid_floor(clock_timestamp() - interval '1 hour');
  v_newest uuid := writ_data.uuid_floor(clock_timestamp() + interval '5 minutes');
  v_bound text := writ_data.caller_tenant();
  v_tenant text := coalesce(v_bound, p_tenant_id);  -- of runs that name none
  v_limit record;
  v_new uuid[];
  v_answers jsonb;
  v_refused jsonb;
  v_place integer;
  v_bad boolean[];          -- by place: it was refused
  v_half integer;
  v_first jsonb;
  v_second jsonb;
  v_detail text;
  v_constraint text;                -- that was violated

  -- Where an item raises: why it is no run, by place, and those that are runs with their places.
  v_wrong text[];
  v_places bigint[];
  v_good jsonb;
begin
  if not coalesce((writ_data.setting('queue.job_substrate.enabled'))::boolean, false) then
    return writ_data.refusal('job_substrate_disabled');
  elsif coalesce(btrim(p_actor), '') = '' or length(p_actor) > 200 then
    return writ_data.refusal('actor_required');
  elsif jsonb_typeof(p_runs) is distinct from 'array'
    or jsonb_array_length(p_runs) not between 1 and 10000 then
    return writ_data.refusal('invalid_argument', 'p_runs is an array of one to ten thousand runs.');
  end if;
  v_limit := writ_data.over_limit(p_runs, v_tenant, v_bound, v_now);

  with item as materialized (
    select (i.n - 1)::integer as index, i.run_id, coalesce(i.tenant, v_tenant) as tenant,
      coalesce(i.project, 'default') as project,
      coalesce(i.environment, 'default') as environment,
      i.plan_id, i.plan_version, i.sha256, i.input, i.request_id,
      coalesce(i.priority, 0)::smallint as priority, coalesce(i.engine, 'native') as engine,
      i.engine_run_ref, i.original_run_id, i.traceparent, p.plan_no, p.sha256 as known,
      case when i.request_id is not null then
        sha256(convert_to(json_build_array(coalesce(i.tenant, v_tenant),
          coalesce(i.project, 'default'), coalesce(i.environment, 'default'), i.plan_id,
          i.plan_version, i.request_id)::text, 'UTF8'))
      end as request
    from rows from (
      jsonb_to_recordset(p_runs) as (run_id uuid, tenant text, project text, environment text,
        plan_id text, plan_version text, sha256 text, input jsonb, request_id text,
        priority smallint, engine text, engine_run_ref jsonb, original_run_id uuid,
        traceparent text)
    ) with ordinality i(run_id, tenant, project, environment, plan_id, plan_version, sha256, input,
      request_id, priority, engine, engine_run_ref, original_run_id, traceparent, n)
    -- A tenant may have registered its own version, so choose the one with this hash.
    left join lateral (
      select x.plan_no, x.sha256 from writ_data.plan x
      where x.plan_id = i.plan_id and x.plan_version = i.plan_version
        and x.tenant_id in ('', coalesce(i.tenant, v_tenant))
      order by encode(x.sha256, 'hex') = lower(i.sha256) desc
      limit 1
    ) p on true
  ), judged as materialized (
    select *, case
        when run_id is null or run_id < v_oldest or run_id > v_newest
          or get_byte(uuid_send(run_id), 6) & 240 <> 112
          or get_byte(uuid_send(run_id), 8) & 192 <> 128 then 'INVALID_RUN_ID'
        when tenant is null or tenant = '' or tenant = '_system' or length(tenant) > 200
          then 'invalid_tenant'
        when tenant <> v_bound then 'TENANT_ACCESS_DENIED'
        when plan_id = 'governed' then 'reserved_job_kind'
        when plan_no is null then 'PLAN_NOT_FOUND'
        when encode(known, 'hex') is distinct from lower(sha256)
          then 'PLAN_INTEGRITY_VALIDATION_FAILED'
        when jsonb_typeof(engine_run_ref) <> 'object' then 'invalid_argument'
        when octet_length(input::text) > v_max or octet_length(engine_run_ref::text) > 4096
          then 'payload_too_large'
        when octet_length(concat(project, environment, request_id)) > 1000 or request_id = ''
          then 'invalid_idempotency_key'
        when not (traceparent like '00-________________________________-________________-__'
          and traceparent not like '%-%-%-%-%' and traceparent !~ '[^0-9a-f-]')
          then 'invalid_traceparent'
        when engine not in ('native', 'external') then 'CAPABILITIES_NOT_SUPPORTED'
        when item.original_run_id is not null and not exists (
          select from writ_data.run o
          where o.run_id = item.original_run_id and o.tenant_id = item.tenant)
          then 'INVALID_RUN_ID'
        when v_limit.policies[array_position(v_limit.places, index)] = 'REJECT'
          then 'TENANT_OVERLOADED'
      end as reason,
      v_limit.policies[array_position(v_limit.places, index)] is not null as waits,
      v_limit.times[array_position(v_limit.places, index)] as start_after
    from item
  ), request_taken as (
    insert into writ_data.run_request (request_sha256, run_id)
    select request, run_id from judged
    where reason is null and request is not null
    order by request
    on conflict do nothing
    returning run_id
  ), started as (
    insert into writ_data.run (run_id, tenant_id, project_id, environment_id, plan_no, engine,
      engine_run_ref, engine_login, priority, request_id, original_run_id, status, input,
      started_by, created_at, moved_at, start_after, traceparent)
    select run_id, tenant, project, environment, plan_no, engine,
      case when engine <> 'native' then engine_run_ref end,
      case when engine <> 'native' then session_user end, priority, request_id, original_run_id,
      case when engine = 'native' and not waits then 'RUNNING' else 'PENDING' end, input, p_actor,
      v_now, v_now, start_after, traceparent
    from judged
    where reason is null and (request is null or run_id in (select run_id from request_taken))
    on conflict do nothing
    returning run_id
  )
  select (select array_agg(run_id) from started),
    (select jsonb_agg(jsonb_build_object('index', index, 'reason', reason, 'detail', case reason
        when 'PLAN_NOT_FOUND' then left(concat(plan_id, ' ', plan_version), 200)
        when 'INVALID_RUN_ID' then run_id::text
        when 'payload_too_large' then case
          when octet_length(input::text) > v_max then format(
            'The input has %s bytes; queue.payload.max_bytes allows %s.',
            octet_length(input::text), v_max)
          else format('engine_run_ref has %s bytes; at most 4096 are allowed.',
            octet_length(engine_run_ref::text)) end
        when 'TENANT_OVERLOADED' then format('tenant %s: retry after %s s', tenant,
          writ_data.setting('runs.admission.retry_after_sec'))
        when 'CAPABILITIES_NOT_SUPPORTED' then 'The engine is native or external.'
        when 'invalid_argument' then 'engine_run_ref is an object.'
      end)
      || case when reason = 'TENANT_OVERLOADED' then jsonb_build_object('retry_after_ms',
        round((writ_data.setting('runs.admission.retry_after_sec'))::numeric * 1000))
      else '{}' end order by index)
      from judged where reason is not null)
  into v_new, v_refused;
  if v_refused is not null then
    v_bad := array_fill(false, array[jsonb_array_length(p_runs)]);
    for v_place in select (f ->> 'index')::integer from jsonb_array_elements(v_refused) f loop
      v_bad[v_place + 1] := true;
    end loop;
  end if;

  if coalesce(cardinality(v_new), 0) + coalesce(jsonb_array_length(v_refused), 0)
    = jsonb_array_length(p_runs) then
    select jsonb_agg(jsonb_build_object('index', i.n - 1, 'run_id', i.run ->> 'run_id',
      'duplicate', false) order by i.n) into v_answers
    from jsonb_array_elements(p_runs) with ordinality i(run, n)
    where v_bad is null or not v_bad[i.n::integer];
  else
    -- A second statement sees what the first one met and could not insert. An id that a run of
    -- another tenant or plan has is refused, and the note of its request is taken back.
    with item as materialized (
      select i.*, coalesce(i.tenant, v_tenant) as owner,
        case when i.request_id is not null then
          sha256(convert_to(json_build_array(coalesce(i.tenant, v_tenant),
            coalesce(i.project, 'default'), coalesce(i.environment, 'default'), i.plan_id,
            i.plan_version, i.request_id)::text, 'UTF8'))
        end as request
      from rows from (
        jsonb_to_recordset(p_runs) as (run_id uuid, tenant text, project text, environment text,
          plan_id text, plan_version text, request_id text, input jsonb)
      ) with ordinality i(run_id, tenant, project, environment, plan_id, plan_version, request_id,
        input, n)
      where v_bad is null or not v_bad[i.n::integer]
    ), found as materialized (
      select i.n, i.run_id as given, i.request, r.run_id,
        r.input is not distinct from i.input as same_input,
        row_number() over (partition by r.run_id order by i.n) as nth
      from item i
      left join lateral (
        select x.run_id from writ_data.run_request x where x.request_sha256 = i.request) k on true
      left join lateral (
        select x.run_id, x.input from writ_data.run x join writ_data.plan p on p.plan_no = x.plan_no
        where x.run_id = coalesce(k.run_id, i.run_id) and x.tenant_id = i.owner
          and p.plan_id = i.plan_id and p.plan_version = i.plan_version offset 0) r on true
    ), taken_back as (
      delete from writ_data.run_request q using found f
      where f.run_id is null and q.request_sha256 = f.request and q.run_id = f.given
    )
    select
      jsonb_agg(jsonb_build_object('index', f.n - 1, 'run_id', f.run_id,
        'duplicate', f.nth > 1 or not coalesce(f.run_id = any (v_new), false),
        'same_input', f.same_input) order by f.n)
        filter (where f.run_id is not null),
      coalesce(v_refused, '[]') || coalesce(
        jsonb_agg(jsonb_build_object('index', f.n - 1, 'reason', 'INVALID_RUN_ID',
          'detail', format('%s is the id of another run.', f.given)) order by f.n)
        filter (where f.run_id is null), '[]')
    into v_answers, v_refused
    from found f;
  end if;

  if v_new is not null then
    perform writ_data.begin_runs(v_new, 'fn_run_start', p_actor, v_now);
  end if;
  return jsonb_build_object('runs', coalesce(v_answers, '[]'),
    'refused', coalesce(v_refused, '[]'));
exception when others then
  get stacked diagnostics v_detail = pg_exception_detail, v_constraint = constraint_name;
  v_half := jsonb_array_length(p_runs) / 2;
  if sqlstate = '23514' and v_constraint = '' then
    -- There is no partition.
    if writ_data.open_days() then
      return writ.fn_run_start_many(p_runs, p_actor, p_tenant_id);
    end if;
    raise;
  elsif writ_data.is_transient(sqlstate) then
    raise;
  end if;

  -- Refuse what is no run together: to halve the list for each such item would take minutes.
  if v_half > 0 then
    select array_agg(w.wrong order by i.n),
      array_agg(i.n - 1 order by i.n) filter (where w.wrong is null),
      jsonb_agg(i.run order by i.n) filter (where w.wrong is null)
    into v_wrong, v_places, v_good
    from jsonb_array_elements(p_runs) with ordinality i(run, n)
    cross join lateral (select writ_data.wrong_with_start(i.run) as wrong offset 0) w;
  end if;
  if array_length(array_remove(v_wrong, null), 1) > 0 then
    v_answers := '{"runs": [], "refused": []}';
    if v_good is not null then
      v_answers := writ.fn_run_start_many(v_good, p_actor, p_tenant_id);
    end if;
    select jsonb_build_object(
      'runs', coalesce((
        select jsonb_agg(
          x || jsonb_build_object('index', v_places[(x ->> 'index')::integer + 1]))
        from jsonb_array_elements(v_answers -> 'runs') x), '[]'),
      'refused', (
        select jsonb_agg(f.refused order by f.refused -> 'index')
        from (
          select x || jsonb_build_object('index', v_places[(x ->> 'index')::integer + 1])
          from jsonb_array_elements(v_answers -> 'refused') x
          union all
          select jsonb_build_object('index', u.n - 1, 'reason', 'invalid_argument',
            'detail', u.wrong)
          from unnest(v_wrong) with ordinality u(wrong, n)
          where u.wrong is not null) f(refused)))
    into v_answers;
    return v_answers;
  elsif v_half > 0 then
    -- One run raises. Halve the list until that run is alone.
    v_first := writ.fn_run_start_many((
      select jsonb_agg(i.run order by i.n)
      from jsonb_array_elements(p_runs) with ordinality i(run, n)
      where i.n <= v_half), p_actor, p_tenant_id);
    v_second := writ.fn_run_start_many((
      select jsonb_agg(i.run order by i.n)
      from jsonb_array_elements(p_runs) with ordinality i(run, n)
      where i.n > v_half), p_actor, p_tenant_id);
    select jsonb_build_object(
      'runs', (v_first -> 'runs') || coalesce((
        select jsonb_agg(x || jsonb_build_object('index', (x ->> 'index')::integer + v_half))
        from jsonb_array_elements(v_second -> 'runs') x), '[]'),
      'refused', (v_first -> 'refused') || coalesce((
        select jsonb_agg(x || jsonb_build_object('index', (x ->> 'index')::integer + v_half))
        from jsonb_array_elements(v_second -> 'refused') x), '[]'))
    into v_answers;
    return v_answers;
  elsif sqlstate <> 'WR001' and left(sqlstate, 2) not in ('22', '23', '54') then
    raise;
  end if;
  return jsonb_build_object('runs', '[]'::jsonb, 'refused', jsonb_build_array(jsonb_build_object(
    'index', 0,
    'reason', case when sqlstate = 'WR001' then sqlerrm else 'invalid_argument' end,
    'detail', left(case when sqlstate = 'WR001' then v_detail else sqlerrm end, 200))));
end $$;
