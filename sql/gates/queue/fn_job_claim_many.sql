-- gate: workflow_admin, dot_executor
-- Claims up to p_limit jobs of these kinds under one lease, and marks the first p_start of them, which the caller begins at once, as started.
-- Answers {lease_token, leased_until, started_upto, timeout_s, jobs: [[job_id, kind, tenant, key, attempt, execution_no, deadline, input, …], …]},
-- in the order of the lease: a job's place in it is how every later call names it. Without work: {jobs: []}.
-- A lease lasts a day at most. Rows are deleted by ctid behind SKIP LOCKED, so claims never wait for each other; kinds are visited by their best priority.
-- A job whose deadline has passed is cancelled instead of handed out. A worker that has subscriptions gets what they allow.
-- The caller may fix the token before it asks, and so give back with fn_lease_release what a lost answer would have told it. The input is in an
-- array of its own, so that none and null are not the same.
-- p_durable false answers before the claim is on disk, for this transaction alone. Nothing is promised by a claim: if the server crashes in
-- that moment the job is queued again, and the worker that believed to have it finds its token refused.
create or replace function writ.fn_job_claim_many(
  p_kinds text[], p_executor text, p_lease_holder text, p_lease_ttl_seconds double precision default null,
  p_limit integer default 1, p_start integer default 0, p_lease_name text default null, p_durable boolean default true,
  p_lease_token uuid default null
) returns json language plpgsql security definer set search_path = pg_catalog, pg_temp
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan as $$
declare
  v_now timestamptz := writ.now();
  v_ttl double precision := least(greatest(coalesce(p_lease_ttl_seconds, (writ_data.setting('queue.lease.duration_sec'))::double precision), 0), 86400);
  v_until timestamptz := v_now + v_ttl * interval '1 second';
  v_token uuid := coalesce(p_lease_token, writ_data.uuidv7());
  v_limit integer := least(greatest(p_limit, 1), 5000);
  v_start integer; v_jobs json;
  v_served text[]; v_floors smallint[]; v_floor smallint; v_kinds text[]; v_kind text; v_timeout double precision;
  v_ids uuid[] := '{}'; v_attempts smallint[] := '{}'; v_nos smallint[] := '{}'; v_expired uuid[];
  t_ids uuid[]; t_attempts smallint[]; t_nos smallint[]; x_ids uuid[]; x_attempts smallint[]; x_nos smallint[];
begin
  if p_executor is null or p_executor not in
      ('DOT', 'Agent', 'Hermes', 'Codex', 'PG_worker', 'external_worker', 'future_Kestra_adapter') then
    return writ_data.refusal('executor_forbidden', format('%s may not claim jobs.', coalesce(p_executor, 'Nobody')));
  elsif coalesce(btrim(p_lease_holder), '') = '' then
    return writ_data.refusal('actor_required', 'A lease names its holder.');
  elsif p_lease_holder like 'MOT:%' then
    return writ_data.refusal('generator_forbidden', p_lease_holder);
  elsif not coalesce((writ_data.setting('queue.job_substrate.enabled'))::boolean, false) then
    return writ_data.refusal('job_substrate_disabled');
  elsif exists (select from writ_data.job_kind k where k.job_kind = any (p_kinds) and k.executor <> p_executor) then
    return writ_data.refusal('executor_forbidden', format('%s may not claim jobs of another executor''s kind.', p_executor));
  elsif not (writ_data.setting('queue.worker.enabled'))::boolean then
    return json_build_object('jobs', json_build_array(), 'paused', true);
  end if;

  if exists (select from writ_data.job_subscription s where s.executor_id = any (array[p_lease_holder, p_lease_name])) then
    select array_agg(s.job_kind), array_agg(s.priority_floor) into v_served, v_floors
    from writ_data.subscribed_kinds(p_lease_holder, p_lease_name, p_kinds) s;
  else
    v_served := p_kinds;
  end if;
  if cardinality(v_served) = 1 then
    v_kinds := v_served;
  else
    select array_agg(k.kind order by best.priority desc, best.seq) into v_kinds
    from unnest(v_served, v_floors) k(kind, floor)
    cross join lateral (select q.priority, q.seq from writ_data.job_ready q
      where q.job_kind = k.kind and q.priority >= coalesce(k.floor, -32768) order by q.priority desc, q.seq limit 1) best;
  end if;

  foreach v_kind in array coalesce(v_kinds, '{}') loop
    v_floor := coalesce(v_floors[array_position(v_served, v_kind)], -32768);
    with taken as (
      delete from writ_data.job_ready r
      where r.ctid = any (array(
        select q.ctid from writ_data.job_ready q where q.job_kind = v_kind and q.priority >= v_floor
        order by q.priority desc, q.seq limit v_limit - cardinality(v_ids) for update skip locked))
      returning r.job_id, r.attempts, r.execution_no, r.deadline_at, r.priority, r.seq
    ), sorted as (select * from taken order by priority desc, seq)
    select array_agg(job_id) filter (where late is not true), array_agg(attempts) filter (where late is not true),
      array_agg(execution_no) filter (where late is not true),
      array_agg(job_id) filter (where late), array_agg(attempts) filter (where late), array_agg(execution_no) filter (where late)
    into t_ids, t_attempts, t_nos, x_ids, x_attempts, x_nos
    from (select *, deadline_at <= v_now as late from sorted) s;
    if x_ids is not null then
      v_expired := v_expired
        || writ_data.end_unleased(x_ids, x_attempts, x_nos, 'deadline_exceeded', 'The deadline passed before a worker was free.', v_now);
    end if;
    if t_ids is not null then
      v_ids := v_ids || t_ids; v_attempts := v_attempts || t_attempts; v_nos := v_nos || t_nos;
    end if;
    exit when cardinality(v_ids) >= v_limit;
  end loop;

  if v_expired is not null then
    perform writ_data.record('fn_job_claim', p_lease_holder, v_now, v_expired, array['dot.job.cancelled'], array[1],
      array[cardinality(v_expired)], jsonb_build_object('code', 'deadline_exceeded'));
  end if;
  if cardinality(v_ids) = 0 then
    return json_build_object('jobs', json_build_array());
  end if;

  select json_agg(json_build_array(u.id, j.job_kind, j.tenant_id, j.idempotency_key, u.attempts + 1, u.no,
      j.deadline_at, case when p.body is not null then json_build_array(p.body::json) end, j.payload_ref, j.safe_payload, j.correlation_id, j.priority, j.max_attempts, j.parent_job_id, j.workflow_id) order by u.n)
  into v_jobs
  from unnest(v_ids, v_attempts, v_nos) with ordinality u(id, attempts, no, n)
  join writ_data.job j on j.job_id = u.id
  left join writ_data.payload p on p.tenant_id = j.tenant_id and p.sha256 = j.payload_sha256;
  if not p_durable then
    perform set_config('synchronous_commit', 'off', true);
  end if;
  v_start := least(cardinality(v_ids), greatest(p_start, 0));
  select max(coalesce(k.timeout_s, (writ_data.setting('queue.lease.timeout_sec'))::double precision)) into v_timeout
  from writ_data.job_kind k where k.job_kind = any (v_kinds);
  insert into writ_data.job_lease (lease_token, lease_name, holder, claimed_at, leased_until, ttl_s, timeout_s, job_ids, attempts, execution_nos, open_jobs,
    start_upto, start_at)
  values (v_token, p_lease_name, p_lease_holder, v_now, v_until, v_ttl, v_timeout, v_ids, v_attempts, v_nos, cardinality(v_ids),
    case when v_start > 0 then array[v_start] else '{}' end, case when v_start > 0 then array[v_now] else '{}' end);
  perform writ_data.record('fn_job_claim', p_lease_holder, v_now, v_ids,
    array['dot.job.leased', 'dot.job.started'], array[1, 1], array[cardinality(v_ids), v_start]);
  return json_build_object('lease_token', v_token, 'leased_until', v_until, 'started_upto', v_start, 'timeout_s', v_timeout, 'jobs', v_jobs);
end $$;
