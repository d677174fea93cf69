-- Claims up to p_limit jobs of the given kinds under one lease.
-- Callers: writ_worker, writ_applier
-- Answers: {lease_token, leased_until, started_upto, timeout_s, jobs: [[job_id, kind, tenant, key,
--          attempt, execution_no, deadline, [input], …], …]}. Later calls name a job by its
--          position in the lease. Where they apply: after (the tenant the next claim begins
--          after), alone, limited, again_ms (when to ask again), paused (all that it may claim is
--          paused), skipped ({kind: why} for kinds that this caller may not claim). Without work:
--          {jobs: []}.
-- Refuses: executor_forbidden, actor_required, invalid_actor, generator_forbidden,
--          batch_too_large, job_substrate_disabled; reserved_job_kind or executor_forbidden when
--          it skips every kind. Only writ_applier claims reserved kinds.
-- Locks:   the slot of a limited key, ready rows, the runs of steps. It skips what another session
--          holds, so claims never wait for each other.
create or replace function writ.fn_job_claim_many(
  p_kinds text[],
  p_executor text,
  p_lease_holder text,
  p_lease_ttl_seconds double precision default null,
  p_limit integer default 1,
  p_start integer default 0,        -- how many of the jobs the caller starts at once
  p_lease_name text default null,
  p_durable boolean default true,   -- false: answer before the claim is on disk
  p_lease_token uuid default null,  -- chosen by the caller, to release a lease it never heard of
  p_alone boolean default false,    -- the caller runs nothing else
  p_after text default null         -- begin after this tenant; null: anywhere
) returns json
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_now timestamptz := writ.now();

  -- What governs the claim.
  v_settings jsonb[];               -- enabled, lease seconds, timeout seconds, workers enabled
  v_forbidden boolean;              -- a kind belongs to another executor, or is paused
  v_reserved boolean;               -- a kind belongs to Writ
  v_skipped jsonb;                  -- those that the caller may not claim, and why
  v_bound boolean;                  -- the login is bound to a tenant
  v_tenant text;                    -- the only one whose jobs the caller may claim; null: any
  v_limited boolean;                -- a kind has limits
  v_timeout double precision;
  v_subscribed boolean;             -- the worker has subscriptions
  v_safe bigint;                    -- no open transaction can add a ready row below this
  v_kinds text[] := p_kinds;        -- without those skipped, narrowed by subscriptions
  v_floors smallint[];              -- lowest priority of each kind, by subscription

  -- The way through the lanes.
  v_alone boolean := false;         -- this pass takes one suspect job
  v_limit integer;
  chosen record;                    -- lanes to visit, as parallel arrays (choose_lanes)
  v_lanes integer;
  v_after text;
  v_share integer;                  -- of each tenant, in rounds 2 and 3
  v_tenant_left integer;            -- of the current tenant's share
  v_tenant_before text;
  v_has_more boolean[] := '{}'::boolean[];     -- by lane
  v_want integer;
  allowed record;                   -- what a limit lets through (allowance)
  v_starts boolean;                 -- what is taken counts against a rate, so it starts now
  v_starts_now integer := 0;
  taken record;                     -- from one lane (take)
  v_blocked boolean;                -- a limit held jobs back
  v_again double precision;
  v_expired uuid[];

  -- The jobs of the lease, as parallel arrays.
  v_jobs uuid[] := '{}'::uuid[];
  v_attempts smallint[] := '{}'::smallint[];
  v_execution_nos integer[] := '{}'::integer[];
  v_answers text[] := '{}'::text[];         -- null: still to be looked up
  v_stepped boolean := false;       -- some are steps of runs
  v_holds_reserved boolean := false;
  begun record;                     -- which steps may not begin (begin_steps)

  -- What the lease holds of limited kinds, as parallel arrays.
  hold_kinds text[] := '{}'::text[];
  hold_keys text[] := '{}'::text[];
  hold_counts integer[] := '{}'::integer[];
  v_metered integer[] := '{}'::integer[];      -- positions of holds that count against a rate

  -- The lease.
  v_token uuid := coalesce(p_lease_token, writ_data.uuidv7());
  v_ttl double precision;
  v_until timestamptz;
  v_start integer;
begin
  -- Validate.

  if p_executor is null or p_executor not in (
    'DOT', 'Agent', 'Hermes', 'Codex', 'PG_worker', 'external_worker', 'future_Kestra_adapter'
  ) then
    return writ_data.refusal(
      'executor_forbidden', format('%s may not claim jobs.', coalesce(p_executor, 'Nobody'))
    );
  elsif coalesce(btrim(p_lease_holder), '') = '' then
    return writ_data.refusal('actor_required', 'A lease names its holder.');
  elsif length(p_lease_holder) > 200 or length(p_lease_name) > 200 then
    return writ_data.refusal('invalid_actor', 'A lease''s names have at most 200 characters.');
  elsif p_lease_holder like 'MOT:%' then
    return writ_data.refusal('generator_forbidden', p_lease_holder);
  elsif cardinality(p_kinds) > 1000 then
    return writ_data.refusal('batch_too_large', 'A claim names at most 1,000 kinds.');
  end if;

  -- Read what governs the claim. Most claims name one kind. One plain statement for it costs less
  -- than the aggregate below costs to set up.
  if cardinality(p_kinds) = 1 then
    select
      array(
        select c.value from writ_data.dot_config c
        where c.key in (
          'queue.job_substrate.enabled', 'queue.lease.duration_sec',
          'queue.lease.timeout_sec', 'queue.worker.enabled'
        )
        order by c.key
      ),
      k.executor <> p_executor or k.paused_at is not null,
      writ_data.reserved_kind(p.kind),
      k.limit_concurrency is not null or k.limit_rate is not null,
      k.timeout_s,
      exists (
        select from writ_data.job_subscription s
        where s.executor_id = any (array[p_lease_holder, p_lease_name])
      ),
      (select last_value from writ_data.job_ready_safe),
      (select l.tenant_id is not null from writ_data.login l where l.login = session_user)
    into v_settings, v_forbidden, v_reserved, v_limited, v_timeout, v_subscribed, v_safe, v_bound
    from (select p_kinds[1] as kind) p
    left join writ_data.job_kind k on k.job_kind = p.kind;

    v_timeout := coalesce(v_timeout, v_settings[3]::double precision);
  else
    v_settings := array(
      select c.value from writ_data.dot_config c
      where c.key in (
        'queue.job_substrate.enabled', 'queue.lease.duration_sec',
        'queue.lease.timeout_sec', 'queue.worker.enabled'
      )
      order by c.key
    );
    select
      bool_or(k.executor <> p_executor or k.paused_at is not null),
      bool_or(writ_data.reserved_kind(k.job_kind)),
      bool_or(k.limit_concurrency is not null or k.limit_rate is not null),
      max(coalesce(k.timeout_s, v_settings[3]::double precision)),
      exists (
        select from writ_data.job_subscription s
        where s.executor_id = any (array[p_lease_holder, p_lease_name])
      ),
      (select last_value from writ_data.job_ready_safe),
      (select l.tenant_id is not null from writ_data.login l where l.login = session_user)
    into v_forbidden, v_reserved, v_limited, v_timeout, v_subscribed, v_safe, v_bound
    from writ_data.job_kind k
    where k.job_kind = any (p_kinds);
  end if;

  if v_settings[1] <> 'true' then
    return writ_data.refusal('job_substrate_disabled');
  elsif v_settings[4] <> 'true' then
    return json_build_object('jobs', json_build_array(), 'paused', true);
  end if;

  -- A kind that this caller may not claim does not keep it from the others.
  if v_forbidden or v_reserved and not writ_data.caller_has('writ_applier') then
    select p.kinds, p.skipped, coalesce(p.timeout_s, v_settings[3]::double precision)
    into v_kinds, v_skipped, v_timeout
    from writ_data.permitted_kinds(p_kinds, p_executor) p;
    if v_kinds is null and cardinality(p_kinds) > (select count(*) from jsonb_each(v_skipped)) then
      return json_strip_nulls(json_build_object(
        'jobs', json_build_array(), 'paused', true, 'skipped', v_skipped
      ));
    elsif v_kinds is null then
      return writ_data.refusal(
        (select s.value from jsonb_each_text(v_skipped) s order by s.key limit 1),
        format('%s may not claim these kinds.', p_executor)
      );
    end if;
  end if;
  if v_bound or current_setting('writ.tenant', true) <> '' then
    v_tenant := writ_data.caller_tenant();
  end if;

  v_ttl := coalesce(p_lease_ttl_seconds, v_settings[2]::double precision);
  v_ttl := least(greatest(v_ttl, 0), 86400);

  if v_subscribed then
    select array_agg(s.job_kind), array_agg(s.priority_floor)
    into v_kinds, v_floors
    from writ_data.subscribed_kinds(p_lease_holder, p_lease_name, v_kinds) s;
  end if;

  -- Take jobs. A job whose worker crashed is a suspect: it is handed out by itself, to a caller
  -- that runs nothing else. If there is no suspect, or none may go now, a second pass takes
  -- ordinary jobs.
  if p_alone then
    v_alone := exists (select from writ_data.lane where job_kind = any (v_kinds) and alone);
  end if;

  loop
    v_limit := case when v_alone then 1 else least(greatest(p_limit, 1), 5000) end;
    chosen := writ_data.choose_lanes(
      v_kinds, v_floors, v_alone, p_after, v_limit, coalesce(v_limited, false), v_tenant
    );
    v_lanes := coalesce(cardinality(chosen.lanes), 0);
    v_after := chosen.after;

    -- Round 1 gives each tenant its share. What is left goes to the lanes that have more:
    -- in round 2 in equal parts, in round 3 to the first.
    for v_round in 1 .. 3 loop
      if v_round > 1 then
        exit when not true = any (v_has_more);
        select ceil(
          (v_limit - cardinality(v_jobs))
          / case v_round when 2 then count(distinct u.tenant) else 1 end::double precision
        )
        into v_share
        from unnest(chosen.tenants, v_has_more) u(tenant, has_more)
        where u.has_more;
      end if;

      for i in 1 .. v_lanes loop
        exit when cardinality(v_jobs) >= v_limit;

        if i = 1 or chosen.tenants[i] <> chosen.tenants[i - 1] then
          v_tenant_left := case v_round when 1 then chosen.quotas[i] else v_share end;
          v_tenant_before := case when i > 1 then chosen.tenants[i - 1] else p_after end;
        end if;
        if v_round = 1 then
          v_has_more[i] := true;
        end if;
        continue when v_tenant_left <= 0 or not v_has_more[i];

        v_want := least(v_tenant_left, v_limit - cardinality(v_jobs));
        v_starts := false;

        -- Ask the limits of the kind. allowance counts in a statement after its lock, so v_now
        -- moves up to the moment that it counted.
        if chosen.limited[i] then
          allowed := writ_data.allowance(
            chosen.kinds[i],
            chosen.keys[i],
            v_want,
            greatest(p_start, 0) - v_starts_now,
            (
              select coalesce(sum(u.n), 0)::integer
              from unnest(hold_kinds, hold_keys, hold_counts) u(kind, key, n)
              where u.kind = chosen.kinds[i] and u.key = chosen.keys[i]
            )
          );
          v_again := least(v_again, allowed.again_ms);
          v_now := greatest(v_now, allowed.at);
          if allowed.jobs < v_want then
            v_has_more[i] := false;
            v_blocked := true;
          end if;
          continue when allowed.jobs <= 0;
          v_want := allowed.jobs;
          v_starts := allowed.starts;
        end if;

        taken := writ_data.take(
          chosen.lanes[i], chosen.heads[i], v_want, v_now,
          chosen.kinds[i], chosen.tenants[i], chosen.priorities[i]
        );
        if cardinality(taken.ids) < v_want then
          v_has_more[i] := false;
        end if;
        if taken.stepped then
          v_stepped := true;
        end if;
        if v_reserved and writ_data.reserved_kind(chosen.kinds[i]) then
          v_holds_reserved := true;
        end if;
        if taken.late_ids is not null then
          v_expired := v_expired || writ_data.end_late(
            taken.late_ids, taken.late_attempts, taken.late_nos, p_lease_holder, v_now
          );
        end if;
        if taken.rows_taken > 0 and random() * 1000 < taken.rows_taken then
          -- About once in a thousand rows, the lane's head moves up to its first live row.
          perform writ_data.move_head(chosen.lanes[i], v_safe);
        end if;
        continue when cardinality(taken.ids) = 0;

        v_tenant_left := v_tenant_left - cardinality(taken.ids);
        if chosen.limited[i] then
          hold_kinds := hold_kinds || chosen.kinds[i];
          hold_keys := hold_keys || chosen.keys[i];
          hold_counts := hold_counts || cardinality(taken.ids);
        end if;
        if v_starts then
          -- In front, where the start mark covers them.
          v_starts_now := v_starts_now + cardinality(taken.ids);
          v_metered := v_metered || cardinality(hold_kinds);
          v_jobs := taken.ids || v_jobs;
          v_attempts := taken.attempts || v_attempts;
          v_execution_nos := taken.nos || v_execution_nos;
          v_answers := taken.answers || v_answers;
        else
          v_jobs := v_jobs || taken.ids;
          v_attempts := v_attempts || taken.attempts;
          v_execution_nos := v_execution_nos || taken.nos;
          v_answers := v_answers || taken.answers;
        end if;

        -- The claim is full before every tenant had its share: the next one begins with the
        -- first tenant that is owed.
        if v_round = 1 and cardinality(v_jobs) >= v_limit
          and (v_tenant_left > 0 or chosen.tenants[i] <> chosen.tenants[v_lanes])
        then
          v_after := case when v_tenant_left > 0 then v_tenant_before else chosen.tenants[i] end;
        end if;
      end loop;
      exit when cardinality(v_jobs) >= v_limit;
    end loop;

    exit when not v_alone or cardinality(v_jobs) > 0;
    v_alone := false;
    v_has_more := '{}';
  end loop;

  if v_expired <> '{}' then
    perform writ_data.record(
      'fn_job_claim', p_lease_holder, v_now, v_expired,
      array['dot.job.cancelled'], array[1], array[cardinality(v_expired)],
      jsonb_build_object('code', 'deadline_exceeded')
    );
  end if;

  -- Look up what the ready rows did not carry.
  if array_position(v_answers, null) is not null then
    v_stepped := v_stepped or exists (
      select from unnest(v_jobs, v_answers) u(job, answer)
      cross join lateral (
        select from writ_data.job j where j.job_id = u.job and j.run_id is not null offset 0
      ) x
      where u.answer is null
    );
    v_answers := writ_data.look_up(v_jobs, v_attempts, v_execution_nos, v_answers);
  end if;

  -- Steps begin only while their run lets them. The others go back to their lane, or end.
  if v_stepped and cardinality(v_jobs) > 0 then
    begun := writ_data.begin_steps(v_jobs, v_attempts, v_execution_nos, p_lease_holder, v_now);
    if begun.away <> '{}' then
      select
        coalesce(array_agg(u.id order by u.n), '{}'),
        coalesce(array_agg(u.attempts order by u.n), '{}'),
        coalesce(array_agg(u.no order by u.n), '{}'),
        coalesce(array_agg(u.answer order by u.n), '{}')
      into v_jobs, v_attempts, v_execution_nos, v_answers
      from unnest(v_jobs, v_attempts, v_execution_nos, v_answers)
        with ordinality u(id, attempts, no, answer, n)
      where u.n <> all (begun.away);
      if begun.held then
        v_again := least(v_again, 5);
      end if;
      if cardinality(hold_kinds) > 0 then
        select c.kinds, c.keys, c.counts
        into hold_kinds, hold_keys, hold_counts
        from writ_data.count_limited(v_jobs) c;
        v_metered := case
          when v_starts_now > 0 then array(select generate_series(1, cardinality(hold_kinds)))
          else '{}'
        end;
      end if;
    end if;
  end if;

  if cardinality(v_jobs) = 0 then
    return json_strip_nulls(json_build_object(
      'jobs', json_build_array(),
      'after', nullif(v_after, ''),
      'limited', v_blocked,
      'again_ms', v_again,
      'skipped', v_skipped
    ));
  end if;

  -- Write the lease. A claim promises nothing, so it need not be durable: after a server crash the
  -- jobs are queued again, and the worker's token is refused.
  if not p_durable then
    perform set_config('synchronous_commit', 'off', true);
  end if;
  v_start := least(cardinality(v_jobs), greatest(p_start, 0));
  v_until := v_now + v_ttl * interval '1 second';
  insert into writ_data.job_lease (
    lease_token, lease_name, holder, claimed_at, leased_until, ttl_s, timeout_s,
    job_ids, attempts, execution_nos, open_jobs,
    start_upto, start_at,
    limited, alone, stepped, reserved
  ) values (
    v_token, p_lease_name, p_lease_holder, v_now, v_until, v_ttl, v_timeout,
    v_jobs, v_attempts, v_execution_nos, cardinality(v_jobs),
    case when v_start > 0 then array[v_start] else '{}' end,
    case when v_start > 0 then array[v_now] else '{}' end,
    cardinality(hold_kinds) > 0, v_alone, v_stepped, v_holds_reserved
  );

  if cardinality(hold_kinds) > 0 then
    insert into writ_data.limit_hold (lease_token, job_kind, limit_key, open_jobs)
    select v_token, u.kind, u.key, sum(u.n)
    from unnest(hold_kinds, hold_keys, hold_counts) u(kind, key, n)
    group by u.kind, u.key;

    -- At the time of the start mark, so that the recorded starts keep within the rate.
    perform writ_data.meter(hold_kinds[i], hold_keys[i], hold_counts[i], v_now)
    from unnest(v_metered) i;
  end if;

  -- Record, and answer. The answer is put together as text, because the jobs in it are JSON
  -- already: building it value by value is what would cost most.
  perform writ_data.record(
    'fn_job_claim', p_lease_holder, v_now, v_jobs,
    array['dot.job.leased', 'dot.job.started'],
    array[1, 1],
    array[cardinality(v_jobs), v_start]
  );
  return concat(
    '{"lease_token":"', v_token,
    '","leased_until":', to_json(v_until),
    ',"started_upto":', v_start,
    ',"timeout_s":', v_timeout,
    case when v_after <> '' then concat(',"after":', to_json(v_after)) end,
    case when v_alone then ',"alone":true' end,
    case when v_blocked then ',"limited":true' end,
    case when v_again is not null then concat(',"again_ms":', v_again) end,
    case when v_skipped is not null then concat(',"skipped":', v_skipped) end,
    ',"jobs":[', array_to_string(v_answers, ','), ']}'
  )::json;
end $$;
