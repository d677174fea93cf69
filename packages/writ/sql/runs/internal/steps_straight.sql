-- Ends steps on the ordinary path. Each step is the only one of its run here; nothing follows it,
-- or one job that waits for nothing else and gets the run's input; and the worker goes on with all
-- of these jobs. One statement reads everything; then executions, events, the next jobs, their
-- lease, the record and the ends of runs are written from arrays. In any other case nothing is
-- written, and `usual` is false.
-- p_runs[i] is the run of the job p_jobs[i]; runs are in ascending order, no two alike. p_lo and
-- p_hi are the lowest and the highest job; p_leases is the number of leases. p_only is the only
-- tenant that the caller may touch; null: any.
-- Locks:   none. The caller has locked the leases and the runs, and has set how to plan.
create or replace function writ_data.steps_straight(
  p_tokens uuid[],
  p_positions integer[],
  p_jobs uuid[],
  p_runs uuid[],
  p_results text[],
  p_take boolean[],
  p_kinds text[],
  p_lo uuid,
  p_hi uuid,
  p_leases integer,
  p_max_bytes integer,
  p_max_attempts smallint,
  p_token uuid,
  p_ttl double precision,
  p_timeout double precision,
  p_holder text,
  p_only text,
  p_at timestamptz,
  out usual boolean,
  out ended uuid[],
  out answers text,
  out going integer
)
language plpgsql
as $$
declare
  v_n integer := cardinality(p_jobs);
  r_lo uuid := p_runs[1];
  r_hi uuid := p_runs[v_n];
  v_batch uuid := (left(writ_data.uuidv7()::text, 30) || '000000')::uuid;
  v_count integer;                  -- steps on the ordinary path
  v_over integer;                   -- runs that end
  v_all integer;                    -- events

  -- The steps that complete, as parallel arrays.
  c_jobs uuid[];
  c_nos integer[];
  c_attempts smallint[];
  c_started timestamptz[];
  c_seqs integer[];
  c_steps text[];
  c_logical text[];
  c_data text[];
  c_leaves bytea;                   -- hashes of their events, one after the other

  -- The events of the runs that end.
  e_seqs integer[];
  e_leaves bytea;

  -- The next steps, which the worker goes on with, as parallel arrays.
  n_ids uuid[];
  n_runs uuid[];
  n_seqs integer[];
  n_nos smallint[];
  n_steps text[];
  n_kinds text[];
  n_inputs text[];
  n_tenants text[];
  n_priorities smallint[];
  n_max smallint[];
  n_data text[];
  n_traces text[];
  n_leaves bytea;
begin
  -- Read everything, in one statement. The data of events is text, exactly as jsonb would write it,
  -- because that is what is hashed. y has one row per step; z adds the data of StepStarted.
  select
    count(*) filter (where z.usual and (z.kind is null) = (z.next = '{}')),
    array_agg(z.job),
    array_agg(z.no),
    array_agg(z.attempt),
    array_agg(z.started),
    array_agg(z.seq + 1),
    array_agg(z.step_id),
    array_agg(z.logical),
    array_agg(z.data),
    string_agg(
      writ_data.run_event_leaf(
        z.run, z.seq + 1, 'StepCompleted', z.step_id, z.logical, z.attempt::integer, z.data, null,
        p_at
      ),
      ''::bytea
    ),
    array_agg(z.run) filter (where z.kind is null),
    array_agg(z.seq + 2) filter (where z.kind is null),
    string_agg(
      writ_data.run_event_leaf(
        z.run, z.seq + 2, 'RunCompleted', 'RUN', '1', null, '{}', null, p_at
      ),
      ''::bytea
    ) filter (where z.kind is null),
    array_agg(z.id) filter (where z.kind is not null),
    array_agg(z.run) filter (where z.kind is not null),
    array_agg(z.seq + 2) filter (where z.kind is not null),
    array_agg(z.next_no) filter (where z.kind is not null),
    array_agg(z.next_id) filter (where z.kind is not null),
    array_agg(z.kind) filter (where z.kind is not null),
    array_agg(z.input) filter (where z.kind is not null),
    array_agg(z.tenant_id) filter (where z.kind is not null),
    array_agg(z.priority) filter (where z.kind is not null),
    array_agg(z.max_attempts) filter (where z.kind is not null),
    array_agg(z.traceparent) filter (where z.kind is not null),
    array_agg(z.start) filter (where z.kind is not null),
    string_agg(
      writ_data.run_event_leaf(
        z.run, z.seq + 2, 'StepStarted', z.next_id, '1', 1, z.start, null, p_at
      ),
      ''::bytea
    ) filter (where z.kind is not null),
    string_agg(
      concat(
        '["', z.id, '","', z.kind, '",', to_json(z.tenant_id), ',null,1,1,null,',
        case when z.input is null then 'null' else concat('[', z.input, ']') end,
        ',null,null,null,', z.priority, ',', z.max_attempts, ',null,null,["', z.run, '","',
        z.next_id, '",1,"', z.plan_id, '","', z.plan_version, '",',
        coalesce(z.timeout_ms::text, 'null'), ']', ',"' || z.traceparent || '"', ']'
      ),
      ','
    ) filter (where z.kind is not null)
  into v_count, c_jobs, c_nos, c_attempts, c_started, c_seqs, c_steps, c_logical, c_data, c_leaves,
    ended, e_seqs, e_leaves, n_ids, n_runs, n_seqs, n_nos, n_steps, n_kinds, n_inputs, n_tenants,
    n_priorities, n_max, n_traces, n_data, n_leaves, answers
  from (
    select
      y.*,
      case
        when y.kind is not null
          then concat(
            '{"kind": "', y.kind, '", "jobId": "', y.id, '", "worker": ', to_json(p_holder), '}'
          )
      end as start
    from (
      select
        u.token, u.job, u.run,
        l.execution_nos[u.p] as no,
        (l.attempts[u.p] + 1)::smallint as attempt,
        l.start_at[width_bucket(u.p - 1, l.start_upto) + 1] as started,
        j.logical_attempt::text as logical,
        r.input::text as input,
        r.tenant_id, r.priority, r.traceparent, q.plan_id, q.plan_version, p.step_id, p.next,
        x.step_no as next_no,
        x.step_id as next_id,
        x.timeout_ms,
        k.job_kind as kind,
        coalesce(x.max_attempts, k.max_attempts, p_max_attempts) as max_attempts,
        case when x.step_no is not null then writ_data.uuidv7() end as id,
        case
          when u.result is null then '{"artifacts": []}'
          else concat(
            '{"artifacts": [{"uri": "writ:result/', u.job, '", "kind": "output", "sha256": "',
            encode(sha256(convert_to(u.result, 'UTF8')), 'hex'),
            '", "sizeBytes": ', octet_length(u.result), '}]}'
          )
        end as data,
        l.job_ids[u.p] = u.job
          and l.holder = p_holder
          and l.stepped
          and not l.limited
          and u.p <= l.start_upto[cardinality(l.start_upto)]
          and j.run_id = u.run
          and j.undo is null
          and j.place is null
          and not writ_data.reserved_kind(j.job_kind)
          and (p_only is null or p_only = r.tenant_id)
          and r.status = 'RUNNING'
          and r.ending is null
          and not r.steered
          and r.governed_by is null
          and p.plain
          and cardinality(p.next) <= 1
          and coalesce(octet_length(u.result), 0) <= p_max_bytes
          and coalesce(writ_data.is_readable(u.result), true)
          and (
            p.next = '{}'
            or u.take
              and x.input is null
              and k.job_kind = any (p_kinds)
              and k.limit_concurrency is null
              and k.limit_rate is null
              and k.paused_at is null
          ) as usual,
        (
          select e.run_seq
          from writ_data.run_event e
          where e.run_id = u.run and e.run_id between r_lo and r_hi
          order by e.run_seq desc
          limit 1
        ) as seq
      from unnest(p_tokens, p_positions, p_jobs, p_runs, p_results, p_take)
        u(token, p, job, run, result, take)
      join writ_data.job_lease l on l.lease_token = u.token
      cross join lateral (
        select x.run_id, x.job_kind, x.step_no, x.logical_attempt, x.undo, x.place
        from writ_data.job x
        where x.job_id = u.job and x.job_id between p_lo and p_hi
        offset 0
      ) j
      cross join lateral (
        select *
        from writ_data.run x
        where x.run_id = u.run and x.run_id between r_lo and r_hi
        offset 0
      ) r
      join writ_data.plan q on q.plan_no = r.plan_no
      join writ_data.plan_step p on p.plan_no = r.plan_no and p.step_no = j.step_no
      left join writ_data.plan_step x on x.plan_no = r.plan_no and x.step_no = p.next[1]
      left join writ_data.job_kind k on k.job_kind = x.job_kind
      offset 0
    ) y
    offset 0
  ) z;

  usual := v_count = v_n and c_jobs = p_jobs;
  if not usual then
    return;
  end if;
  going := coalesce(cardinality(n_ids), 0);
  v_over := v_n - going;
  v_all := v_n + v_over + going;

  -- Write executions and events, then the next jobs and their lease, then the ends of runs.
  insert into writ_data.job_execution (
    job_id, execution_no, attempt, lease_token, lease_owner, status, started_at, committed_at,
    finished_at, result
  )
  select u.job, u.no, u.attempt, u.token, p_holder, 'DONE', u.started, p_at, p_at, u.result::json
  from unnest(p_jobs, c_nos, c_attempts, p_tokens, c_started, p_results)
    u(job, no, attempt, token, started, result);

  insert into writ_data.run_event (
    run_id, run_seq, event_type, step_id, logical_attempt, engine_attempt, data, at, batch_id
  )
  select u.run, u.seq, 'StepCompleted', u.step, u.attempt, u.engine, u.data::jsonb, p_at, v_batch
  from unnest(p_runs, c_seqs, c_steps, c_logical, c_attempts, c_data)
    u(run, seq, step, attempt, engine, data)
  union all
  select u.run, u.seq, 'StepStarted', u.step, '1', 1, u.data::jsonb, p_at, v_batch
  from unnest(n_runs, n_seqs, n_steps, n_data) u(run, seq, step, data);

  if going > 0 then
    insert into writ_data.job (
      job_id, tenant_id, job_kind, event_domain, input, payload_classification, executor,
      max_attempts, priority, process_after, enqueued_by, enqueued_at, source_system, run_id,
      step_no, logical_attempt, traceparent
    )
    select
      u.id, u.tenant, k.job_kind, k.event_domain, u.input::json, 'safe_metadata', k.executor,
      u.max_attempts, u.priority, p_at, p_holder, p_at, k.source_system, u.run, u.step, 1, u.trace
    from unnest(n_ids, n_tenants, n_kinds, n_inputs, n_max, n_priorities, n_runs, n_nos, n_traces)
      u(id, tenant, kind, input, max_attempts, priority, run, step, trace)
    join writ_data.job_kind k on k.job_kind = u.kind;

    insert into writ_data.job_lease (
      lease_token, holder, claimed_at, leased_until, ttl_s, timeout_s, job_ids, attempts,
      execution_nos, open_jobs, start_upto, start_at, stepped, reserved
    ) values (
      p_token, p_holder, p_at, p_at + p_ttl * interval '1 second', p_ttl, p_timeout, n_ids,
      array_fill(0::smallint, array[going]), array_fill(1, array[going]), going, array[going],
      array[p_at], true, false
    );
  end if;

  if v_over > 0 then
    insert into writ_data.run_event (
      run_id, run_seq, event_type, step_id, logical_attempt, data, at, batch_id
    )
    select u.run, u.seq, 'RunCompleted', 'RUN', '1', '{}', p_at, v_batch
    from unnest(ended, e_seqs) u(run, seq);

    update writ_data.run r
    set status = 'COMPLETED', moved_at = p_at
    where r.run_id = any (ended) and r.run_id between r_lo and r_hi;
  end if;

  perform writ_data.leases_told(p_tokens, p_leases);

  -- Record. Subjects are the runs of the events, in their order, then the jobs.
  insert into writ_data.event_batch (
    batch_id, at, command, actor, types, first, last, subjects, run_ids, run_seqs, run_leaves
  ) values (
    v_batch, p_at, 'fn_run_steps_succeed', p_holder,
    '{dot.run.StepCompleted,dot.run.RunCompleted,dot.run.StepStarted,'
    'dot.job.committed,dot.job.succeeded,dot.job.enqueued,dot.job.leased,dot.job.started}',
    array[
      1, v_n + 1, v_n + v_over + 1,
      v_all + 1, v_all + 1, v_all + v_n + 1, v_all + v_n + 1, v_all + v_n + 1
    ],
    array[
      v_n, v_n + v_over, v_all,
      v_all + v_n, v_all + v_n, v_all + v_n + going, v_all + v_n + going, v_all + v_n + going
    ],
    p_runs || ended || n_runs || p_jobs || n_ids,
    p_runs || ended || n_runs,
    c_seqs || e_seqs || n_seqs,
    c_leaves || coalesce(e_leaves, '') || coalesce(n_leaves, '')
  );

  perform writ_data.on_recorded(p_at);
exception when unique_violation or not_null_violation or invalid_text_representation then
  usual := false;
  ended := null;
  answers := null;
end $$;
