-- internal
-- The ordinary end of steps, in one statement, because every statement costs more to set up than to run: each is the only one of its run here, what follows from it are jobs that wait for nothing
-- else and get the run's input, and the worker goes on with all of them. Then executions, events, the next jobs, their lease, the record and the ends of runs are written at once. Anything else: nothing is
-- written, and `usual` is false. The caller has locked the leases, and the runs, p_runs[i] of the job p_jobs[i].
create or replace function writ_data.steps_straight(p_tokens uuid[], p_positions integer[], p_results text[], p_take boolean[], p_jobs uuid[], p_runs uuid[], p_kinds text[], p_token uuid, p_ttl double precision,
  p_timeout double precision, p_holder text, p_at timestamptz, out usual boolean, out ended uuid[], out answers text[]) language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan as $$
declare
  v_n integer := cardinality(p_jobs); j_lo uuid := p_jobs[1]; j_hi uuid := p_jobs[1]; r_lo uuid := p_runs[1]; r_hi uuid := p_runs[1]; v_default smallint; v_max integer;
  v_batch uuid := (left(writ_data.uuidv7()::text, 30) || '000000')::uuid;
begin
  if v_n > 1 then
    select x.ids[1], x.ids[v_n], x.runs[1], x.runs[v_n] into j_lo, j_hi, r_lo, r_hi from (select array_agg(u.j order by u.j) as ids, array_agg(distinct u.r) as runs from unnest(p_jobs, p_runs) u(j, r)) x;
    if r_hi is null then
      usual := false; -- two of one run
      return;
    end if;
  end if;
  select a.value::smallint, b.value::integer into v_default, v_max from writ_data.dot_config a, writ_data.dot_config b where a.key = 'queue.retry.max_attempts_default' and b.key = 'queue.payload.max_bytes';
  with step as materialized (
    select u.n::integer as n, u.token, u.job, u.run, u.result, l.execution_nos[u.p] as no, (l.attempts[u.p] + 1)::smallint as attempt, l.holder, l.start_at[width_bucket(u.p - 1, l.start_upto) + 1] as started, l.open_jobs,
      j.logical_attempt, r.plan_no, r.input, r.tenant_id, r.priority, q.plan_id, q.plan_version, p.step_id, p.next,
      l.stepped and not l.limited and u.p <= l.start_upto[cardinality(l.start_upto)] and j.undo is null and j.place is null and r.status = 'RUNNING' and r.ending is null and not r.steered and p.plain
        and (u.take or p.next = '{}') and coalesce(octet_length(u.result), 0) <= v_max as usual,
      (select e.run_seq from writ_data.run_event e where e.run_id = u.run and e.run_id between r_lo and r_hi order by e.run_seq desc limit 1) as seq
    from unnest(p_tokens, p_positions, p_results, p_take, p_jobs, p_runs) with ordinality u(token, p, result, take, job, run, n)
    cross join lateral (select * from writ_data.job_lease x where x.lease_token = u.token offset 0) l
    cross join lateral (select x.step_no, x.logical_attempt, x.undo, x.place from writ_data.job x where x.job_id = u.job and x.job_id between j_lo and j_hi offset 0) j
    cross join lateral (select * from writ_data.run x where x.run_id = u.run and x.run_id between r_lo and r_hi offset 0) r
    join writ_data.plan q on q.plan_no = r.plan_no
    join writ_data.plan_step p on p.plan_no = r.plan_no and p.step_no = j.step_no
  ), next as materialized (
    select (s.n * 1000 + f.nth)::integer as o, f.nth, writ_data.uuidv7() as id, s.run, s.seq, s.input, s.tenant_id, s.priority, x.step_no, x.step_id, k.job_kind, k.event_domain, k.executor, k.source_system,
      coalesce(x.max_attempts, k.max_attempts, v_default) as max_attempts, concat('["', s.run, '","', x.step_id, '",1,"', s.plan_id, '","', s.plan_version, '",', coalesce(x.timeout_ms::text, 'null'), ']') as label,
      x.input is null and k.job_kind = any (p_kinds) and k.limit_concurrency is null and k.limit_rate is null and p_token is not null as usual
    from step s cross join lateral unnest(s.next) with ordinality f(no, nth) join writ_data.plan_step x on x.plan_no = s.plan_no and x.step_no = f.no join writ_data.job_kind k on k.job_kind = x.job_kind
  ), go as materialized (
    select from (select 1) one where (select count(*) filter (where s.usual) = v_n from step s) and (select coalesce(bool_and(x.usual), true) from next x)
  ), event as materialized (
    select s.n as o, 'StepCompleted'::text as type, s.run, s.seq + 1 as seq, s.step_id as step, s.logical_attempt::text as attempt, s.attempt::integer as engine, case when s.result is null then '{"artifacts": []}'::jsonb else
      concat('{"artifacts":[{"uri":"writ:result/', s.job, '","kind":"output","sha256":"', encode(sha256(convert_to(s.result, 'UTF8')), 'hex'), '","sizeBytes":', octet_length(s.result), '}]}')::jsonb end as data
    from step s, go
    union all
    select s.n + 10000000, 'RunCompleted', s.run, s.seq + 2, 'RUN', '1', null, '{}' from step s, go where s.next = '{}'
    union all
    select x.o + 20000000, 'StepStarted', x.run, (x.seq + 1 + x.nth)::integer, x.step_id, '1', 1, concat('{"jobId":"', x.id, '","kind":"', x.job_kind, '","worker":', to_json(p_holder), '}')::jsonb from next x, go
  ), executions as (
    insert into writ_data.job_execution (job_id, execution_no, attempt, lease_token, lease_owner, status, started_at, committed_at, finished_at, result)
    select s.job, s.no, s.attempt, s.token, s.holder, 'DONE', s.started, p_at, p_at, s.result::json from step s, go
  ), events as (
    insert into writ_data.run_event (run_id, run_seq, event_type, step_id, logical_attempt, engine_attempt, data, at, batch_id)
    select e.run, e.seq, e.type, e.step, e.attempt, e.engine, e.data, p_at, v_batch from event e
  ), jobs as (
    insert into writ_data.job (job_id, tenant_id, job_kind, event_domain, input, payload_classification, executor, max_attempts, priority, process_after, enqueued_by, enqueued_at, source_system, run_id, step_no, logical_attempt)
    select x.id, x.tenant_id, x.job_kind, x.event_domain, x.input::text::json, 'safe_metadata', x.executor, x.max_attempts, x.priority, p_at, p_holder, p_at, x.source_system, x.run, x.step_no, 1 from next x, go
  ), told as materialized (
    select s.token, min(s.open_jobs) - count(*) as open from step s, go group by s.token
  ), gone as (
    delete from writ_data.job_lease l using told t where l.lease_token = t.token and t.open <= 0
  ), less as (
    update writ_data.job_lease l set open_jobs = t.open from told t where l.lease_token = t.token and t.open > 0
  ), lease as (
    insert into writ_data.job_lease (lease_token, holder, claimed_at, leased_until, ttl_s, timeout_s, job_ids, attempts, execution_nos, open_jobs, start_upto, start_at, stepped)
    select p_token, p_holder, p_at, p_at + p_ttl * interval '1 second', p_ttl, p_timeout, array_agg(x.id order by x.o), array_agg(0::smallint), array_agg(1::smallint), count(*), array[count(*)::integer], array[p_at], true
    from next x, go having count(*) > 0
  ), batch as (
    insert into writ_data.event_batch (batch_id, at, command, actor, types, first, last, subjects, run_ids, run_seqs, run_leaves)
    select v_batch, p_at, 'fn_run_steps_succeed', p_holder, '{dot.run.StepCompleted,dot.run.RunCompleted,dot.run.StepStarted,dot.job.committed,dot.job.succeeded,dot.job.enqueued,dot.job.leased,dot.job.started}',
      array[1, v_n + 1, v_n + c.over + 1, c.all + 1, c.all + 1, c.all + v_n + 1, c.all + v_n + 1, c.all + v_n + 1], array[v_n, v_n + c.over, c.all, c.all + v_n, c.all + v_n, c.all + v_n + c.next, c.all + v_n + c.next, c.all + v_n + c.next],
      c.runs || p_jobs || coalesce(c.ids, '{}'), c.runs, c.seqs, c.leaves
    from (
      select count(*)::integer as all, count(*) filter (where e.type = 'RunCompleted')::integer as over, count(*) filter (where e.type = 'StepStarted')::integer as next, array_agg(e.run order by e.o) as runs, array_agg(e.seq order by e.o) as seqs,
        string_agg(sha256('\x00'::bytea || convert_to(writ_data.run_event_document(e.run, e.seq, e.type, e.step, e.attempt, e.engine, e.data, null, p_at), 'UTF8')), ''::bytea order by e.o) as leaves,
        (select array_agg(x.id order by x.o) from next x) as ids
      from event e) c
    where c.all > 0
  )
  select exists (select from go), (select array_agg(s.run) from step s where s.next = '{}'),
    (select array_agg(concat('["', x.id, '","', x.job_kind, '",', to_json(x.tenant_id), ',null,1,1,null,', case when x.input is null then 'null' else concat('[', x.input, ']') end, ',null,null,null,', x.priority, ',', x.max_attempts, ',null,null,', x.label, ']') order by x.o) from next x)
  into usual, ended, answers;
  if usual and ended is not null then
    update writ_data.run r set status = 'COMPLETED', moved_at = p_at where r.run_id = any (ended) and r.run_id between r_lo and r_hi;
  end if;
exception when unique_violation or not_null_violation or invalid_text_representation then
  usual := false;
end $$;
