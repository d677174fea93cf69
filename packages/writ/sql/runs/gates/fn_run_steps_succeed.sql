-- Ends succeeded steps of any number of leases of one worker, and gives the worker their successors
-- under one new lease. So a run does not wait in the queue between two steps.
-- Callers: writ_worker, writ_applier
-- p_positions: the places of the jobs p_jobs in their leases p_tokens. p_runs: their runs, in
--          ascending order. p_results: their outputs as JSON text, or null. p_take: for which of
--          them the worker wants the successors, if those are of p_kinds. p_token: the new lease.
-- Answers: {done, runs_ended, followed, next_due_ms, next: as fn_job_claim_many}; {unusual: true},
--          with nothing done, in every unusual case: a lease that is gone or counts in limits, a
--          job that was not started, has ended, has committed by itself, is of a reserved kind or
--          of another tenant, a result from which the next step cannot read. Then the worker
--          reports each lease with fn_job_succeed_many.
-- Refuses: invalid_argument (arrays of one length, from 1 to 10,000; at most 10,000 kinds).
-- Locks:   the leases in the order of their tokens, as a renewal does, then the runs by id.
create or replace function writ.fn_run_steps_succeed(
  p_tokens uuid[],
  p_positions integer[],
  p_jobs uuid[],
  p_runs uuid[],
  p_results text[],
  p_take boolean[],
  p_kinds text[],
  p_token uuid,
  p_lease_ttl_seconds double precision,
  p_holder text
) returns json
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
as $$
declare
  v_n integer := cardinality(p_jobs);
  v_only text := writ_data.caller_tenant();
  v_now timestamptz;
  v_ids uuid[];
  v_leases integer;
  v_found integer;
  v_subscribed boolean;
  v_ttl double precision;
  v_timeout double precision;
  v_settings jsonb[];
  v_attempts smallint[];
  v_k integer := 0;         -- how many jobs the worker goes on with
  v_answers text;
  v_ended uuid[];
  v_usual boolean := false;
  v_followed boolean := false;
  v_due timestamptz;
  w record;
  s record;
begin
  -- Validate.
  if coalesce(v_n, 0) not between 1 and 10000 or coalesce(length(p_holder), 0) not between 1 and 200
    or cardinality(p_tokens) is distinct from v_n or cardinality(p_positions) is distinct from v_n
    or cardinality(p_runs) is distinct from v_n or cardinality(p_results) is distinct from v_n
    or cardinality(p_take) is distinct from v_n then
    return writ_data.refusal('invalid_argument',
      'Tokens, positions, jobs, runs, results and take are arrays of one length.');
  elsif cardinality(p_kinds) > 10000 then
    return writ_data.refusal('invalid_argument', 'A worker names at most 10,000 kinds.');
  end if;

  -- Lock. Commits in flight can pass; then those leases whose last jobs end here, as strongly as
  -- removing them needs.
  perform from writ_data.job_lease l
  where l.lease_token = any (p_tokens)
  order by l.lease_token
  for no key update;
  get diagnostics v_leases = row_count;
  perform from writ_data.job_lease l
  where l.lease_token = any (p_tokens)
    and l.open_jobs <= (select count(*) from unnest(p_tokens) t where t = l.lease_token)
  order by l.lease_token
  for update;
  -- Fewer rows than jobs mean two jobs of one run, or runs that are not in ascending order.
  perform from writ_data.run r
  where r.run_id = any (p_runs) and r.run_id between p_runs[1] and p_runs[v_n]
  order by r.run_id
  for no key update;
  get diagnostics v_found = row_count;
  v_now := writ.now();

  -- A worker gets successors only while it may claim and has no subscriptions.
  select array(
      select c.value from writ_data.dot_config c
      where c.key = any ('{queue.job_substrate.enabled,queue.lease.duration_sec,'
        'queue.lease.timeout_sec,queue.payload.max_bytes,queue.retry.max_attempts_default,'
        'queue.worker.enabled}')
      order by c.key),
    exists (select from writ_data.job_subscription x where x.executor_id = p_holder),
    (select max(k.timeout_s) from writ_data.job_kind k where k.job_kind = any (p_kinds)),
    array(select j from unnest(p_jobs) j order by j)
  into v_settings, v_subscribed, v_timeout, v_ids;
  v_ttl := coalesce(p_lease_ttl_seconds, v_settings[2]::double precision);
  v_ttl := least(greatest(v_ttl, 0), 86400);
  v_timeout := coalesce(v_timeout, v_settings[3]::double precision);
  if v_settings[1] <> 'true' or v_settings[6] <> 'true' or v_subscribed then
    p_token := null;
  end if;

  -- Write: the ordinary case in one statement, any other step by step.
  if p_token is not null and v_found = v_n then
    w := writ_data.steps_straight(p_tokens, p_positions, p_jobs, p_runs, p_results, p_take, p_kinds,
      v_ids[1], v_ids[v_n], v_leases, v_settings[4]::integer, v_settings[5]::smallint, p_token,
      v_ttl, v_timeout, p_holder, v_only, v_now);
    v_usual := w.usual;
  end if;
  if v_usual then
    v_answers := w.answers;
    v_ended := w.ended;
    v_k := w.going;
  else
    begin
      with given as materialized (
        select u.n, u.token, u.job, u.result, l.execution_nos[u.p] as no,
          (l.attempts[u.p] + 1)::smallint as attempt, l.holder,
          l.start_at[width_bucket(u.p - 1, l.start_upto) + 1] as started,
          l.job_ids[u.p] = u.job and j.run_id = u.run and l.stepped and not l.limited
            and u.p <= l.start_upto[cardinality(l.start_upto)]
            and not writ_data.reserved_kind(j.job_kind)
            and (v_only is null or v_only = j.tenant_id)
            and coalesce(octet_length(u.result), 0) <= v_settings[4]::integer
            and coalesce(writ_data.is_readable(u.result), true) as usual
        from unnest(p_tokens, p_positions, p_results, p_jobs, p_runs)
          with ordinality u(token, p, result, job, run, n)
        join writ_data.job_lease l on l.lease_token = u.token
        cross join lateral (
          select x.run_id, x.job_kind, x.tenant_id from writ_data.job x
          where x.job_id = u.job and x.job_id between v_ids[1] and v_ids[v_n] offset 0) j
      ), done as (
        insert into writ_data.job_execution (job_id, execution_no, attempt, lease_token,
          lease_owner, status, started_at, committed_at, finished_at, result)
        select g.job, g.no, g.attempt, g.token, g.holder, 'DONE', g.started, v_now, v_now,
          g.result::json
        from given g where g.usual
      )
      select array_agg(g.attempt order by g.n), count(*) filter (where g.usual)
      into v_attempts, v_found
      from given g;
      if v_found is distinct from v_n then
        raise exception using errcode = 'WR003', message = 'unusual';
      end if;
    exception
      when unique_violation or not_null_violation or invalid_text_representation
        or sqlstate 'WR003' then
        return '{"unusual": true}'::json;
    end;
    perform writ_data.leases_told(p_tokens, v_leases);
    s := writ_data.on_jobs_succeeded(p_jobs, p_results, v_attempts, 'fn_run_steps_succeed',
      p_holder, v_now,
      case when p_token is not null then p_holder end, p_take, p_kinds);
    v_k := coalesce(cardinality(s.taken), 0);
    v_answers := array_to_string(s.answers, ',');
    v_ended := s.ended;
    v_followed := s.followed;
    v_due := s.due;
    if v_k > 0 then
      -- Only a governed run has steps of reserved kinds, and steps_ended refuses those.
      insert into writ_data.job_lease (lease_token, holder, claimed_at, leased_until, ttl_s,
        timeout_s, job_ids, attempts, execution_nos, open_jobs, start_upto, start_at, stepped,
        reserved)
      values (p_token, p_holder, v_now, v_now + v_ttl * interval '1 second', v_ttl, v_timeout,
        s.taken, array_fill(0::smallint, array[v_k]), array_fill(1, array[v_k]), v_k, array[v_k],
        array[v_now], true, false);
    end if;
    perform writ_data.record('fn_run_steps_succeed', p_holder, v_now,
      p_jobs || coalesce(s.taken, '{}'),
      array['dot.job.committed', 'dot.job.succeeded', 'dot.job.leased', 'dot.job.started'],
      array[1, 1, v_n + 1, v_n + 1], array[v_n, v_n, v_n + v_k, v_n + v_k]);
  end if;

  return concat('{"done":', v_n,
    case when v_ended <> '{}' then concat(',"runs_ended":', to_json(v_ended)) end,
    case when v_followed then ',"followed":true' end,
    case when v_due is not null then
      concat(',"next_due_ms":',
        ceil(extract(epoch from greatest(v_due, v_now) - v_now) * 1000)) end,
    case when v_k > 0 then
      concat(',"next":{"lease_token":"', p_token, '","leased_until":',
        to_json(v_now + v_ttl * interval '1 second'), ',"started_upto":', v_k,
        ',"timeout_s":', v_timeout, ',"jobs":[', v_answers, ']}') end, '}')::json;
end $$;
