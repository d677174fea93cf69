-- Appends events to the logs of runs, in the order given, and writes one row of the record for
-- them, which has their hashes. Answers the id of that row; null if nothing was appended. The
-- caller has locked the runs, so numbers are dense. With p_once, an event that has happened already
-- is left out; without it, the caller knows that none has. p_jobs are jobs that were enqueued with
-- the events. p_each: for elements of a list, the step that goes over the list; their tally
-- continues from the last.
create or replace function writ_data.append_events(
  p_runs uuid[],
  p_types text[],
  p_steps text[],
  p_attempts text[],
  p_engine_attempts integer[],
  p_data jsonb[],
  p_each smallint[],
  p_signal uuid,
  p_command text,
  p_actor text,
  p_at timestamptz,
  p_jobs uuid[] default null,
  p_once boolean default true
) returns uuid
language plpgsql
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_batch uuid := (left(writ_data.uuidv7()::text, 30) || '000000')::uuid;
  v_lo uuid := p_runs[1];           -- bounds of the runs
  v_hi uuid := p_runs[1];
  v_runs uuid[] := p_runs;
  v_seqs integer[];
  v_leaves bytea;
  v_n integer := cardinality(p_runs);
begin
  if not writ_data.record_stands() then
    perform writ_data.open_days();  -- it is the first call after days without a worker
  end if;
  if v_n > 1 then
    select x.ids[1], x.ids[v_n]
    into v_lo, v_hi
    from (select array_agg(r order by r) as ids from unnest(p_runs) r) x;
  end if;

  -- Leave out what has happened already.
  if p_once then
    select
      array_agg(u.run order by u.n),
      array_agg(u.type order by u.n),
      array_agg(u.step order by u.n),
      array_agg(u.attempt order by u.n),
      array_agg(u.engine order by u.n),
      array_agg(u.data order by u.n),
      case when p_each is not null then array_agg(u.each order by u.n) end
    into v_runs, p_types, p_steps, p_attempts, p_engine_attempts, p_data, p_each
    from unnest(p_runs, p_types, p_steps, p_attempts, p_engine_attempts, p_data, p_each)
      with ordinality u(run, type, step, attempt, engine, data, each, n)
    -- A scalar, so that events are looked up one by one. A join would read everything between the
    -- bounds.
    where (
      select e.run_seq
      from writ_data.run_event e
      where e.run_id = u.run
        and e.run_id between v_lo and v_hi
        and e.step_id = u.step
        and e.logical_attempt = u.attempt
        and e.event_type = u.type
      limit 1
    ) is null;
    if v_runs is null then
      return null;
    end if;

    v_n := cardinality(v_runs);
  end if;

  -- Number and write the events.
  if v_n = 1 then
    v_seqs := array[coalesce(
      (
        select e.run_seq
        from writ_data.run_event e
        where e.run_id = v_runs[1]
        order by e.run_seq desc
        limit 1
      ),
      0
    ) + 1];
  else
    v_seqs := array(
      select coalesce(
        (
          select e.run_seq
          from writ_data.run_event e
          where e.run_id = u.run and e.run_id between v_lo and v_hi
          order by e.run_seq desc
          limit 1
        ),
        0
      )
        + row_number() over (partition by u.run order by u.n)
      from unnest(v_runs) with ordinality u(run, n)
      order by u.n
    );
  end if;

  if p_each is null then
    insert into writ_data.run_event (
      run_id, run_seq, event_type, step_id, logical_attempt, engine_attempt, data, signal_id, at,
      batch_id
    )
    select u.run, u.seq, u.type, u.step, u.attempt, u.engine, u.data, p_signal, p_at, v_batch
    from unnest(v_runs, v_seqs, p_types, p_steps, p_attempts, p_engine_attempts, p_data)
      u(run, seq, type, step, attempt, engine, data);
  else
    perform writ_data.append_items(
      v_runs, v_seqs, p_types, p_steps, p_attempts, p_engine_attempts, p_data, p_each, p_signal,
      p_at, v_batch
    );
  end if;

  v_leaves := (
    select string_agg(
      writ_data.run_event_leaf(
        u.run, u.seq, u.type, u.step, u.attempt, u.engine, u.data::text, p_signal, p_at
      ),
      ''::bytea order by u.n
    )
    from unnest(v_runs, v_seqs, p_types, p_steps, p_attempts, p_engine_attempts, p_data)
      with ordinality u(run, seq, type, step, attempt, engine, data, n)
  );

  -- Record. Neighbours of one type are one fact.
  insert into writ_data.event_batch (
    batch_id, at, command, actor, types, first, last, subjects, run_ids, run_seqs, run_leaves
  )
  select
    v_batch, p_at, p_command, p_actor,
    array_agg('dot.run.' || p_types[g.from_n] order by g.from_n) || 'dot.job.enqueued'::text,
    array_agg(g.from_n order by g.from_n) || (v_n + 1),
    array_agg(g.upto_n order by g.from_n) || (v_n + coalesce(cardinality(p_jobs), 0)),
    v_runs || coalesce(p_jobs, '{}'),
    v_runs, v_seqs, v_leaves
  from (
    select n as from_n, coalesce(lead(n) over (order by n) - 1, v_n) as upto_n
    from generate_series(1, v_n) n
    where n = 1 or p_types[n] <> p_types[n - 1]
  ) g;

  perform writ_data.on_recorded(p_at);
  return v_batch;
end $$;
