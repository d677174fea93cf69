-- Starts runs, each taken or refused by itself.
-- Callers: writ_producer, writ_server
-- p_runs:  an array of objects: run_id (a UUIDv7 that the caller has fixed, so that a repeated call
--          is recognised), plan_id, plan_version, sha256 (of the plan, as the caller knows it), input,
--          tenant, project, environment, request_id, priority, engine, engine_run_ref,
--          original_run_id, traceparent.
-- Answers: {runs: [{index, run_id, duplicate}], refused: [{index, reason, detail}]}. The same request
--          again answers the run that it started. The login that starts a run of another engine is
--          the one that may append to its log (fn_run_append).
-- Refuses: job_substrate_disabled, actor_required, invalid_argument; each run: INVALID_RUN_ID,
--          invalid_tenant, TENANT_ACCESS_DENIED, reserved_job_kind, PLAN_NOT_FOUND,
--          PLAN_INTEGRITY_VALIDATION_FAILED, payload_too_large, invalid_idempotency_key,
--          invalid_traceparent, CAPABILITIES_NOT_SUPPORTED, TENANT_OVERLOADED.
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
    -- A tenant may have registered a version of its own: the one with the content that is meant.
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
        when octet_length(input::text) > v_max or octet_length(engine_run_ref::text) > 4096
          then 'payload_too_large'
        when octet_length(concat(project, environment, request_id)) > 1000 or request_id = ''
          then 'invalid_idempotency_key'
        when not (traceparent like '00-________________________________-________________-__'
          and traceparent not like '%-%-%-%-%' and traceparent !~ '[^0-9a-f-]')
          then 'invalid_traceparent'
        when engine not in ('native', 'temporal', 'external') then 'CAPABILITIES_NOT_SUPPORTED'
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
    select run_id, tenant, project, environment, plan_no, engine, engine_run_ref,
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
        when 'payload_too_large' then format('input of %s bytes', octet_length(input::text))
        when 'TENANT_OVERLOADED' then format('tenant %s: retry after %s s', tenant,
          writ_data.setting('runs.admission.retry_after_sec'))
      end) order by index)
      from judged where reason is not null)
  into v_new, v_refused;

  if coalesce(cardinality(v_new), 0) + coalesce(jsonb_array_length(v_refused), 0)
    = jsonb_array_length(p_runs) then
    select jsonb_agg(jsonb_build_object('index', i.n - 1, 'run_id', i.run ->> 'run_id',
      'duplicate', false) order by i.n) into v_answers
    from jsonb_array_elements(p_runs) with ordinality i(run, n)
    where v_refused is null or not exists (
      select from jsonb_array_elements(v_refused) f where (f ->> 'index')::bigint = i.n - 1);
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
          plan_id text, plan_version text, request_id text)
      ) with ordinality i(run_id, tenant, project, environment, plan_id, plan_version, request_id,
        n)
      where not exists (
        select from jsonb_array_elements(coalesce(v_refused, '[]')) f
        where (f ->> 'index')::bigint = i.n - 1)
    ), found as materialized (
      select i.n, i.run_id as given, i.request, r.run_id,
        row_number() over (partition by r.run_id order by i.n) as nth
      from item i
      left join lateral (
        select x.run_id from writ_data.run_request x where x.request_sha256 = i.request) k on true
      left join lateral (
        select x.run_id from writ_data.run x join writ_data.plan p on p.plan_no = x.plan_no
        where x.run_id = coalesce(k.run_id, i.run_id) and x.tenant_id = i.owner
          and p.plan_id = i.plan_id and p.plan_version = i.plan_version offset 0) r on true
    ), taken_back as (
      delete from writ_data.run_request q using found f
      where f.run_id is null and q.request_sha256 = f.request and q.run_id = f.given
    )
    select
      jsonb_agg(jsonb_build_object('index', f.n - 1, 'run_id', f.run_id,
        'duplicate', f.nth > 1 or not coalesce(f.run_id = any (v_new), false)) order by f.n)
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
  return jsonb_build_object('runs', coalesce(v_answers, '[]'), 'refused', coalesce(v_refused, '[]'));
exception when data_exception then
  return writ_data.refusal('invalid_argument', left(sqlerrm, 200));
end $$;
