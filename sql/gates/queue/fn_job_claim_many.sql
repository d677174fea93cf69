-- Claims up to p_limit jobs of these kinds under one lease, and marks the first p_start of them, which the caller begins at once, as started.
-- Answers {lease_token, leased_until, started_upto, timeout_s, jobs: [[job_id, kind, tenant, key, attempt, execution_no, deadline, input, …], …]},
-- in the order of the lease: a job's place in it is how every later call names it. Without work: {jobs: []}.
-- Whose jobs: tenants share by weight, then priority, then age. One claim visits up to 64 tenants that have work, in the order of their names from p_after
-- on, or from anywhere; its answer's `after` is where the next should begin, so that those whom this one did not reach come first. Nothing about shares is stored: who is visited takes its part of this claim.
-- Claims never wait for each other: rows that another one is taking are passed over. A kind with limits is counted under a transaction lock of its
-- key, in a statement after the lock; a key that another claim is counting is passed over, and `again_ms` says when to ask again. What a rate
-- allows is started at once, so of such a kind p_start jobs are handed out at most.
-- A job whose worker died in it is handed out by itself, to a caller that says with p_alone that nothing runs beside it.
-- A job whose deadline has passed is cancelled instead of handed out. A worker that has subscriptions gets what they allow. A lease lasts a day at most.
-- The caller may fix the token before it asks, and so give back with fn_lease_release what a lost answer would have told it. The input is in an
-- array of its own, so that none and null are not the same.
-- p_durable false answers before the claim is on disk, for this transaction alone. Nothing is promised by a claim: if the server crashes in
-- that moment the job is queued again, and the worker that believed to have it finds its token refused.
-- Callers: writ_worker, writ_applier
create or replace function writ.fn_job_claim_many(
  p_kinds text[], p_executor text, p_lease_holder text, p_lease_ttl_seconds double precision default null,
  p_limit integer default 1, p_start integer default 0, p_lease_name text default null, p_durable boolean default true,
  p_lease_token uuid default null, p_alone boolean default false, p_after text default null
) returns json language plpgsql security definer set search_path = pg_catalog, pg_temp
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan as $$
declare
  v_now timestamptz := writ.now(); v_until timestamptz; v_ttl double precision;
  v_token uuid := coalesce(p_lease_token, writ_data.uuidv7());
  v_limit integer;
  v_kinds text[] := p_kinds; v_floors smallint[];
  v_settings jsonb[]; v_subscribed boolean; v_forbidden boolean; v_limited boolean; v_timeout double precision; v_start integer; v_setting text; v_batch uuid; v_answers text[] := '{}';
  v_lanes integer; v_safe bigint; v_share integer; v_before text; v_after text; v_starts boolean;
  v_want integer; v_tenant_left integer; v_more integer[] := '{}'; v_again double precision; v_alone boolean := false; v_start_now integer := 0; v_blocked boolean;
  v_ids uuid[] := '{}'; v_attempts smallint[] := '{}'; v_nos integer[] := '{}'; v_expired uuid[]; h_kind text[] := '{}'; h_key text[] := '{}'; h_jobs integer[] := '{}'; h_starts integer[] := '{}';
  v_stepped boolean := false; v_held integer[]; v_over integer[];
  chosen record; t record; a record; b record;
begin
  if p_executor is null or p_executor not in
      ('DOT', 'Agent', 'Hermes', 'Codex', 'PG_worker', 'external_worker', 'future_Kestra_adapter') then
    return writ_data.refusal('executor_forbidden', format('%s may not claim jobs.', coalesce(p_executor, 'Nobody')));
  elsif coalesce(btrim(p_lease_holder), '') = '' then
    return writ_data.refusal('actor_required', 'A lease names its holder.');
  elsif p_lease_holder like 'MOT:%' then
    return writ_data.refusal('generator_forbidden', p_lease_holder);
  end if;
  -- Aggregates and wide queries cost more to set up than to run, and most claims are small: one kind is looked up plainly.
  if cardinality(p_kinds) = 1 then
    select array(select c.value from writ_data.dot_config c
        where c.key = any ('{queue.job_substrate.enabled,queue.lease.duration_sec,queue.lease.timeout_sec,queue.worker.enabled}') order by c.key),
      k.executor <> p_executor, k.limit_concurrency is not null or k.limit_rate is not null, k.timeout_s,
      exists (select from writ_data.job_subscription x where x.executor_id = any (array[p_lease_holder, p_lease_name])), (select last_value from writ_data.job_ready_safe)
    into v_settings, v_forbidden, v_limited, v_timeout, v_subscribed, v_safe
    from (select p_kinds[1] as kind) p left join writ_data.job_kind k on k.job_kind = p.kind;
    v_timeout := coalesce(v_timeout, v_settings[3]::double precision);
  else
    v_settings := array(select c.value from writ_data.dot_config c
      where c.key = any ('{queue.job_substrate.enabled,queue.lease.duration_sec,queue.lease.timeout_sec,queue.worker.enabled}') order by c.key);
    select bool_or(k.executor <> p_executor), bool_or(k.limit_concurrency is not null or k.limit_rate is not null), max(coalesce(k.timeout_s, v_settings[3]::double precision)),
      exists (select from writ_data.job_subscription x where x.executor_id = any (array[p_lease_holder, p_lease_name])), (select last_value from writ_data.job_ready_safe)
    into v_forbidden, v_limited, v_timeout, v_subscribed, v_safe
    from writ_data.job_kind k where k.job_kind = any (p_kinds);
  end if;
  if v_settings[1] <> 'true' then
    return writ_data.refusal('job_substrate_disabled');
  elsif v_forbidden then
    return writ_data.refusal('executor_forbidden', format('%s may not claim jobs of another executor''s kind.', p_executor));
  elsif v_settings[4] <> 'true' then
    return json_build_object('jobs', json_build_array(), 'paused', true);
  end if;
  v_ttl := least(greatest(coalesce(p_lease_ttl_seconds, v_settings[2]::double precision), 0), 86400);
  if v_subscribed then
    select array_agg(s.job_kind), array_agg(s.priority_floor) into v_kinds, v_floors from writ_data.subscribed_kinds(p_lease_holder, p_lease_name, p_kinds) s;
  end if;

  -- First what may only run alone; if there is nothing, or nothing of it may be handed out now, whatever else there is.
  if p_alone then
    v_alone := exists (select from writ_data.lane where job_kind = any (v_kinds) and alone);
  end if;
  loop
    -- Which lanes, in which order, with which share.
    v_limit := case when v_alone then 1 else least(greatest(p_limit, 1), 5000) end;
    chosen := writ_data.choose_lanes(v_kinds, v_floors, v_alone, p_after, v_limit, coalesce(v_limited, false));
    v_lanes := coalesce(cardinality(chosen.lanes), 0);
    v_after := chosen.after;

    -- Each tenant his share; then what is left, in equal parts and at last to the first, to those who have more.
    for v_round in 1 .. 3 loop
      if v_round > 1 then
        exit when not 1 = any (v_more);
        select ceil((v_limit - cardinality(v_ids)) / case v_round when 2 then count(distinct u.t) else 1 end::double precision) into v_share
        from unnest(chosen.tenants, v_more) u(t, more) where u.more = 1;
      end if;
      for i in 1 .. v_lanes loop
        exit when cardinality(v_ids) >= v_limit;
        if i = 1 or chosen.tenants[i] <> chosen.tenants[i - 1] then
          v_tenant_left := case v_round when 1 then chosen.quotas[i] else v_share end;
          v_before := case when i > 1 then chosen.tenants[i - 1] else p_after end;
        end if;
        if v_round = 1 then v_more[i] := 1; end if;
        continue when v_tenant_left <= 0 or v_more[i] = 0;
        v_want := least(v_tenant_left, v_limit - cardinality(v_ids)); v_starts := false;
        if chosen.limited[i] then
          a := writ_data.allowance(chosen.kinds[i], chosen.keys[i], v_want, greatest(p_start, 0) - v_start_now,
            (select coalesce(sum(u.n), 0)::integer from unnest(h_kind, h_key, h_jobs) u(k, x, n) where u.k = chosen.kinds[i] and u.x = chosen.keys[i]));
          v_again := least(v_again, a.again_ms);
          v_now := greatest(v_now, a.at);
          if a.jobs < v_want then v_more[i] := 0; v_blocked := true; end if;
          continue when a.jobs <= 0;
          v_want := a.jobs; v_starts := a.starts;
        end if;
        t := writ_data.take(chosen.lanes[i], chosen.heads[i], v_want, v_now, chosen.kinds[i], chosen.tenants[i], chosen.priorities[i]);
        if cardinality(t.ids) < v_want then v_more[i] := 0; end if;
        if t.stepped then v_stepped := true; end if;
        if t.late_ids is not null then
          v_expired := v_expired || writ_data.end_unleased(t.late_ids, t.late_attempts, t.late_nos, 'deadline_exceeded', 'The deadline passed before a worker was free.', v_now);
        end if;
        if t.rows_taken > 0 and random() * 1000 < t.rows_taken then
          -- About once in a thousand rows, the lane's head moves up to its first live row.
          perform writ_data.move_head(chosen.lanes[i], chosen.firsts[i], v_safe);
        end if;
        continue when cardinality(t.ids) = 0;
        v_tenant_left := v_tenant_left - cardinality(t.ids);
        if chosen.limited[i] then
          h_kind := h_kind || chosen.kinds[i]; h_key := h_key || chosen.keys[i]; h_jobs := h_jobs || cardinality(t.ids);
        end if;
        if v_starts then
          -- In front, where the start mark will cover them.
          v_start_now := v_start_now + cardinality(t.ids);
          h_starts := h_starts || cardinality(h_kind);
          v_ids := t.ids || v_ids; v_attempts := t.attempts || v_attempts; v_nos := t.nos || v_nos; v_answers := t.answers || v_answers;
        else
          v_ids := v_ids || t.ids; v_attempts := v_attempts || t.attempts; v_nos := v_nos || t.nos; v_answers := v_answers || t.answers;
        end if;
        if v_round = 1 and cardinality(v_ids) >= v_limit and (v_tenant_left > 0 or chosen.tenants[i] <> chosen.tenants[v_lanes]) then
          -- Not everybody has had his share: the next claim begins with the first who has not.
          v_after := case when v_tenant_left > 0 then v_before else chosen.tenants[i] end;
        end if;
      end loop;
      exit when cardinality(v_ids) >= v_limit;
    end loop;
    exit when not v_alone or cardinality(v_ids) > 0;
    v_alone := false; v_more := '{}';
  end loop;

  if v_expired is not null then
    perform writ_data.record('fn_job_claim', p_lease_holder, v_now, v_expired, array['dot.job.cancelled'], array[1],
      array[cardinality(v_expired)], jsonb_build_object('code', 'deadline_exceeded'));
  end if;
  if cardinality(v_ids) = 0 then
    return json_strip_nulls(json_build_object('jobs', json_build_array(), 'after', nullif(v_after, ''), 'limited', v_blocked, 'again_ms', v_again));
  end if;

  -- Where the ready row carries what a worker needs to know, that is the answer; the others are looked up.
  if array_position(v_answers, null) is not null then
    v_stepped := v_stepped or exists (select from unnest(v_ids, v_answers) u(id, answer) cross join lateral (select from writ_data.job j where j.job_id = u.id and j.run_id is not null offset 0) x where u.answer is null);
    v_answers := writ_data.look_up(v_ids, v_attempts, v_nos, v_answers);
  end if;
  if v_stepped then
    -- Steps begin only while their runs let them; the others go back, or are over.
    select s.held, s.over into v_held, v_over from writ_data.start_steps(v_ids, v_nos, p_lease_holder, v_now) s;
    if v_held <> '{}' or v_over <> '{}' then
      b := writ_data.turn_away(v_ids, v_attempts, v_nos, v_answers, v_held, v_over, p_lease_holder, v_now);
      v_ids := b.ids; v_attempts := b.attempts; v_nos := b.nos; v_answers := b.answers;
      if v_held <> '{}' then v_again := least(v_again, 5); end if;
      if cardinality(h_kind) > 0 then
        -- Counted again, of what is left.
        select coalesce(array_agg(j.job_kind), '{}'), coalesce(array_agg(j.limit_key), '{}'), coalesce(array_agg(j.n), '{}') into h_kind, h_key, h_jobs
        from (select x.job_kind, coalesce(x.limit_key, '') as limit_key, count(*)::integer as n from writ_data.job x join writ_data.job_kind k on k.job_kind = x.job_kind and (k.limit_concurrency is not null or k.limit_rate is not null)
          where x.job_id = any (v_ids) group by 1, 2) j;
        h_starts := case when v_start_now > 0 then array(select generate_series(1, cardinality(h_kind))) else '{}' end;
      end if;
      if cardinality(v_ids) = 0 then
        return json_strip_nulls(json_build_object('jobs', json_build_array(), 'after', nullif(v_after, ''), 'limited', v_blocked, 'again_ms', v_again));
      end if;
    end if;
  end if;
  if not p_durable then
    v_setting := set_config('synchronous_commit', 'off', true);
  end if;
  v_start := least(cardinality(v_ids), greatest(p_start, 0));
  v_until := v_now + v_ttl * interval '1 second';
  insert into writ_data.job_lease (lease_token, lease_name, holder, claimed_at, leased_until, ttl_s, timeout_s, job_ids, attempts, execution_nos, open_jobs,
    start_upto, start_at, limited, alone, stepped)
  values (v_token, p_lease_name, p_lease_holder, v_now, v_until, v_ttl, v_timeout, v_ids, v_attempts, v_nos, cardinality(v_ids),
    case when v_start > 0 then array[v_start] else '{}' end, case when v_start > 0 then array[v_now] else '{}' end, cardinality(h_kind) > 0, v_alone, v_stepped);
  if cardinality(h_kind) > 0 then
    insert into writ_data.limit_hold (lease_token, job_kind, limit_key, open_jobs)
    select v_token, k, x, sum(n) from unnest(h_kind, h_key, h_jobs) u(k, x, n) group by k, x;
    -- By the moment that the start mark says, so that the bound holds for what is recorded.
    perform writ_data.meter(h_kind[i], h_key[i], h_jobs[i], v_now) from unnest(h_starts) i;
  end if;
  v_batch := writ_data.record('fn_job_claim', p_lease_holder, v_now, v_ids,
    array['dot.job.leased', 'dot.job.started'], array[1, 1], array[cardinality(v_ids), v_start]);
  return concat('{"lease_token":"', v_token, '","leased_until":', to_json(v_until), ',"started_upto":', v_start, ',"timeout_s":', v_timeout,
    case when v_after <> '' then concat(',"after":', to_json(v_after)) end, case when v_alone then ',"alone":true' end, case when v_blocked then ',"limited":true' end, case when v_again is not null then concat(',"again_ms":', v_again) end,
    ',"jobs":[', array_to_string(v_answers, ','), ']}')::json;
end $$;
