-- gate: workflow_admin, dot_executor
-- Steps of any number of leases of one worker have succeeded, in one call; and the worker goes on with what follows, under one new lease, p_token, as far as it is of p_kinds: so a run does not
-- stand in line between two steps, and what several leases held comes together in one. p_positions are the places of the jobs in their leases, p_results their outputs as JSON text or null, p_take for
-- which of them it wants to go on. Answers {done, runs_ended, followed, next_due_ms, next: as fn_job_claim_many}. Where anything is out of the ordinary (a lease that is gone or counts in limits, a job that was not
-- started or has ended or has committed by itself) it does nothing and answers {"unusual": true}: then each lease is reported by itself, with fn_job_succeed_many.
create or replace function writ.fn_run_steps_succeed(p_tokens uuid[], p_positions integer[], p_results text[], p_take boolean[], p_kinds text[], p_token uuid, p_lease_ttl_seconds double precision, p_holder text) returns json
  language plpgsql security definer set search_path = pg_catalog, pg_temp
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan as $$
declare
  v_now timestamptz; v_n integer := cardinality(p_tokens); v_jobs uuid[]; v_runs uuid[]; v_lo uuid; v_hi uuid; v_found integer; v_enabled boolean; v_token uuid; v_ttl double precision; v_timeout double precision; v_settings jsonb[];
  v_attempts smallint[]; w record; s record; v_k integer := 0; v_answers text[]; v_batch uuid; v_ended uuid[]; v_usual boolean := false; v_followed boolean := false; v_due timestamptz;
begin
  -- All in the order of their tokens, as a renewal does, so that the two cannot wait for each other, and so that commits in flight can pass; then those whose last jobs end here as strongly as removing them needs.
  perform from writ_data.job_lease l where l.lease_token = any (p_tokens) order by l.lease_token for no key update;
  perform from writ_data.job_lease l where l.lease_token = any (p_tokens) and l.open_jobs <= (select count(*) from unnest(p_tokens) t where t = l.lease_token) order by l.lease_token for update;
  v_jobs := array(select l.job_ids[u.p] from unnest(p_tokens, p_positions) with ordinality u(token, p, n) cross join lateral (select x.job_ids from writ_data.job_lease x where x.lease_token = u.token offset 0) l order by u.n);
  if cardinality(v_jobs) <> v_n or array_position(v_jobs, null) is not null then
    return '{"unusual": true}';
  end if;
  select x.ids[1], x.ids[v_n] into v_lo, v_hi from (select array_agg(j order by j) as ids from unnest(v_jobs) j) x;
  v_runs := array(select j.run_id from unnest(v_jobs) with ordinality u(id, n) cross join lateral (select x.run_id from writ_data.job x where x.job_id = u.id and x.job_id between v_lo and v_hi and x.run_id is not null offset 0) j order by u.n);
  if cardinality(v_runs) <> v_n then
    return '{"unusual": true}';
  end if;
  perform writ_data.lock_runs(v_runs);
  v_now := writ.now();

  -- A worker goes on only while it may claim at all, and has no subscriptions that would have to be looked at.
  v_settings := array(select c.value from writ_data.dot_config c where c.key = any ('{queue.job_substrate.enabled,queue.lease.duration_sec,queue.lease.timeout_sec,queue.worker.enabled}') order by c.key);
  v_enabled := p_token is not null and v_settings[1] = 'true' and v_settings[4] = 'true' and not exists (select from writ_data.job_subscription x where x.executor_id = p_holder);
  v_ttl := least(greatest(coalesce(p_lease_ttl_seconds, v_settings[2]::double precision), 0), 86400);
  select max(coalesce(k.timeout_s, v_settings[3]::double precision)) into v_timeout from writ_data.job_kind k where k.job_kind = any (p_kinds);
  if v_enabled then
    w := writ_data.steps_straight(p_tokens, p_positions, p_results, p_take, v_jobs, v_runs, p_kinds, p_token, v_ttl, coalesce(v_timeout, v_settings[3]::double precision), p_holder, v_now);
    v_usual := w.usual;
  end if;
  if v_usual then
    v_answers := w.answers; v_ended := w.ended;
  else
    begin
      with given as materialized (
        select u.n, u.token, u.job, u.result, l.execution_nos[u.p] as no, (l.attempts[u.p] + 1)::smallint as attempt, l.holder, l.start_at[width_bucket(u.p - 1, l.start_upto) + 1] as started,
          l.stepped and not l.limited and u.p <= l.start_upto[cardinality(l.start_upto)] and coalesce(octet_length(u.result), 0) <= (writ_data.setting('queue.payload.max_bytes'))::integer as usual
        from unnest(p_tokens, p_positions, p_results, v_jobs) with ordinality u(token, p, result, job, n)
        cross join lateral (select * from writ_data.job_lease x where x.lease_token = u.token offset 0) l
      ), done as (
        insert into writ_data.job_execution (job_id, execution_no, attempt, lease_token, lease_owner, status, started_at, committed_at, finished_at, result)
        select g.job, g.no, g.attempt, g.token, g.holder, 'DONE', g.started, v_now, v_now, g.result::json from given g where g.usual
      )
      select array_agg(g.attempt order by g.n), count(*) filter (where g.usual) into v_attempts, v_found from given g;
      if v_found is distinct from v_n then
        raise exception using errcode = 'WR003', message = 'unusual';
      end if;
    exception when unique_violation or not_null_violation or invalid_text_representation or sqlstate 'WR003' then
      return '{"unusual": true}';
    end;
    delete from writ_data.job_lease l where l.lease_token = any (p_tokens) and l.open_jobs <= (select count(*) from unnest(p_tokens) t where t = l.lease_token);
    update writ_data.job_lease l set open_jobs = l.open_jobs - c.n from (select t, count(*) as n from unnest(p_tokens) t group by t) c where l.lease_token = c.t;
    s := writ_data.steps_ended(v_jobs, p_results, v_attempts, 'fn_run_steps_succeed', p_holder, v_now, case when v_enabled then p_holder end, p_take, p_kinds);
    v_k := coalesce(cardinality(s.taken), 0); v_answers := array_remove(s.answers, null); v_ended := s.ended; v_followed := s.followed; v_due := s.due;
    if v_k > 0 then
      insert into writ_data.job_lease (lease_token, holder, claimed_at, leased_until, ttl_s, timeout_s, job_ids, attempts, execution_nos, open_jobs, start_upto, start_at, stepped)
      values (p_token, p_holder, v_now, v_now + v_ttl * interval '1 second', v_ttl, coalesce(v_timeout, v_settings[3]::double precision), s.taken, array_fill(0::smallint, array[v_k]), array_fill(1::smallint, array[v_k]), v_k, array[v_k], array[v_now], true);
    end if;
    v_batch := writ_data.record('fn_run_steps_succeed', p_holder, v_now, v_jobs || coalesce(s.taken, '{}'), array['dot.job.committed', 'dot.job.succeeded', 'dot.job.leased', 'dot.job.started'],
      array[1, 1, v_n + 1, v_n + 1], array[v_n, v_n, v_n + v_k, v_n + v_k]);
  end if;
  return concat('{"done":', v_n, case when v_ended <> '{}' then concat(',"runs_ended":', to_json(v_ended)) end, case when v_followed then ',"followed":true' end,
    case when v_due is not null then concat(',"next_due_ms":', ceil(extract(epoch from greatest(v_due, v_now) - v_now) * 1000)) end,
    case when cardinality(v_answers) > 0 then concat(',"next":{"lease_token":"', p_token, '","leased_until":', to_json(v_now + v_ttl * interval '1 second'), ',"started_upto":', cardinality(v_answers),
      ',"timeout_s":', coalesce(v_timeout, v_settings[3]::double precision), ',"jobs":[', array_to_string(v_answers, ','), ']}') end, '}')::json;
end $$;
