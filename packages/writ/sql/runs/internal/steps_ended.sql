-- Continues runs whose steps have succeeded: appends their events and enqueues what follows, in the
-- transaction that ends the jobs. Where the end of a step alone decides what follows, this is done
-- for all runs at once; where it depends on other steps (joins, conditions, lists, waits), run by
-- run. Jobs that are not steps are passed over.
-- p_results are outputs as JSON text, p_attempts the attempt of each. p_taker is a worker that goes
-- on with what follows, for the steps of p_take, as far as it is of p_kinds and not limited: those
-- steps are started here, too. p_artifacts are references to what a step has stored elsewhere, for
-- the end of a single step.
-- Answers: the runs that ended, whether there is something new to claim, when the next timer is due
--          if one may have been set, and the jobs that the taker has.
-- Locks:   the runs, late in the transaction. The executions are written before.
create or replace function writ_data.steps_ended(
  p_jobs uuid[],
  p_results text[],
  p_attempts smallint[],
  p_command text,
  p_actor text,
  p_at timestamptz,
  p_taker text default null,
  p_take boolean[] default null,
  p_kinds text[] default null,
  p_artifacts jsonb default null,
  out ended uuid[],
  out followed boolean,
  out due timestamptz,
  out taken uuid[],
  out answers text[]
)
language plpgsql
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_lo uuid;                        -- bounds of the jobs
  v_hi uuid;
  r_lo uuid;                        -- bounds of the runs
  r_hi uuid;
  v_others boolean;                 -- some runs have to be looked at one by one

  -- The jobs that are steps, as parallel arrays.
  j_runs uuid[];
  j_steps smallint[];
  j_places integer[];
  j_attempts smallint[];
  j_undo boolean[];
  j_results text[];
  j_engine integer[];
  j_ids uuid[];
  j_take boolean[];

  -- Events to append.
  e_runs uuid[];
  e_types text[];
  e_steps text[];
  e_attempts text[];
  e_engine integer[];
  e_data jsonb[];
  e_each smallint[];

  -- The steps that follow.
  n_runs uuid[];
  n_steps smallint[];
  n_inputs text[];
  n_taken boolean[];
  n_ids text[];
  n_kinds text[];

  v_jobs uuid[];                    -- enqueued here
  v_n integer;
  m record;
begin
  -- Find the jobs that are steps, and lock their runs.
  v_n := cardinality(p_jobs);
  select x.ids[1], x.ids[v_n]
  into v_lo, v_hi
  from (select array_agg(j order by j) as ids from unnest(p_jobs) j) x;

  select
    array_agg(j.run_id),
    array_agg(j.step_no),
    array_agg(j.place),
    array_agg(j.logical_attempt),
    array_agg(coalesce(j.undo, false)),
    array_agg(u.result),
    array_agg(u.attempt::integer),
    array_agg(j.job_id),
    array_agg(coalesce(u.take, false))
  into j_runs, j_steps, j_places, j_attempts, j_undo, j_results, j_engine, j_ids, j_take
  from unnest(p_jobs, p_results, p_attempts, p_take) u(id, result, attempt, take)
  cross join lateral (
    select *
    from writ_data.job x
    where x.job_id = u.id and x.job_id between v_lo and v_hi and x.run_id is not null
    offset 0
  ) j;
  if j_runs is null then
    return;
  end if;

  select x.ids[1], x.ids[cardinality(j_runs)]
  into r_lo, r_hi
  from (select array_agg(r order by r) as ids from unnest(j_runs) r) x;
  perform from writ_data.run r
  where r.run_id = any (j_runs) and r.run_id between r_lo and r_hi
  order by r.run_id
  for no key update;

  if p_command <> 'fn_changes_apply'
    and exists (
      select from writ_data.run r
      where r.run_id = any (j_runs) and r.run_id between r_lo and r_hi and r.governed_by is not null
    )
  then
    raise exception using
      errcode = 'WR001',
      message = 'run_is_governed',
      detail = 'A step of a governed run ends with its effect, by fn_changes_apply.';
  end if;

  -- event: what happened. follow: the jobs that follow and wait for nothing else. A run ends with
  -- its last step, if nothing else is open.
  with done as materialized (
    select
      u.*, r.plan_no, r.input,
      p.plain
        and r.status = 'RUNNING'
        and r.ending is null
        and not r.steered
        and not u.undo
        and u.place is null as plain,
      p.next, p.step_id
    from unnest(j_runs, j_steps, j_places, j_attempts, j_undo, j_results, j_engine, j_ids, j_take)
      with ordinality u(run, step, place, attempt, undo, result, engine, id, take, n)
    cross join lateral (
      select *
      from writ_data.run x
      where x.run_id = u.run and x.run_id between r_lo and r_hi
      offset 0
    ) r
    join writ_data.plan_step p on p.plan_no = r.plan_no and p.step_no = u.step
  ), event as materialized (
    select
      d.run, d.n,
      concat(
        case when d.undo then 'undo:' end,
        d.step_id,
        case
          when d.place is not null
            then concat(
              '[',
              (
                select i.item
                from writ_data.run_item i
                where i.run_id = d.run
                  and i.run_id between r_lo and r_hi
                  and i.step_no = d.step
                  and i.attempt = d.attempt
                  and i.place = d.place
              ),
              ']'
            )
        end
      ) as step,
      d.attempt::text as attempt,
      d.engine,
      jsonb_build_object(
        'artifacts', case
          when d.result is null then '[]'::jsonb
          else concat(
            '[{"uri":"writ:result/', d.id, '","kind":"output","sha256":"',
            encode(sha256(convert_to(d.result, 'UTF8')), 'hex'),
            '","sizeBytes":', octet_length(d.result), '}]'
          )::jsonb
        end
          || coalesce(p_artifacts, '[]')
      ) as data,
      case when d.place is not null and not d.undo then d.step end as each
    from done d
  ), follow as materialized (
    select
      d.run, d.n, s.step_no, s.step_id, s.job_kind,
      writ_data.step_input(s.input, d.run, d.plan_no, d.input, null) as input,
      d.take
        and s.job_kind = any (p_kinds)
        and k.limit_concurrency is null
        and k.limit_rate is null
        and k.paused_at is null as taken
    from done d
    cross join lateral unnest(d.next) f(no)
    join writ_data.plan_step s on s.plan_no = d.plan_no and s.step_no = f.no
    join writ_data.job_kind k on k.job_kind = s.job_kind
    where d.plain
  )
  select
    array_agg(v.run order by v.n),
    array_agg(v.step order by v.n),
    array_agg(v.attempt order by v.n),
    array_agg(v.engine order by v.n),
    array_agg(v.data order by v.n),
    array_agg(v.each order by v.n),
    (select array_agg(d.run order by d.n) from done d where d.plain and d.next = '{}'),
    (select bool_or(not d.plain) from done d),
    (select array_agg(f.run order by f.n, f.step_no) from follow f),
    (select array_agg(f.step_no order by f.n, f.step_no) from follow f),
    (select array_agg(f.input order by f.n, f.step_no) from follow f),
    (select array_agg(f.taken order by f.n, f.step_no) from follow f),
    (select array_agg(f.step_id order by f.n, f.step_no) from follow f),
    (select array_agg(f.job_kind order by f.n, f.step_no) from follow f)
  into e_runs, e_steps, e_attempts, e_engine, e_data, e_each, ended, v_others, n_runs, n_steps,
    n_inputs, n_taken, n_ids, n_kinds
  from event v;

  -- End runs, and enqueue what follows.
  e_types := array_fill('StepCompleted'::text, array[cardinality(e_runs)]);
  if ended is not null then
    v_n := cardinality(ended);
    e_runs := e_runs || ended;
    e_types := e_types || array_fill('RunCompleted'::text, array[v_n]);
    e_steps := e_steps || array_fill('RUN'::text, array[v_n]);
    e_attempts := e_attempts || array_fill('1'::text, array[v_n]);
    e_engine := e_engine || array_fill(null::integer, array[v_n]);
    e_data := e_data || array_fill('{}'::jsonb, array[v_n]);
    e_each := e_each || array_fill(null::smallint, array[v_n]);
    update writ_data.run r
    set status = 'COMPLETED', moved_at = p_at
    where r.run_id = any (ended) and r.run_id between r_lo and r_hi;
  end if;

  if n_runs is not null then
    v_n := cardinality(n_runs);
    if p_taker is null or not true = any (n_taken) then
      v_jobs := (writ_data.enqueue_steps(
        n_runs, n_steps, array_fill(null::integer, array[v_n]), array_fill(1::smallint, array[v_n]),
        array_fill(false, array[v_n]), n_inputs, p_actor, p_at
      )).ids;
      followed := true;
    else
      m := writ_data.enqueue_steps(
        n_runs, n_steps, array_fill(null::integer, array[v_n]), array_fill(1::smallint, array[v_n]),
        array_fill(false, array[v_n]), n_inputs, p_actor, p_at, n_taken
      );
      v_jobs := m.ids;
      followed := false = any (n_taken);
      select
        array_agg(u.id order by u.n),
        array_agg(u.answer order by u.n),
        e_runs || array_agg(u.run order by u.n),
        e_types || array_agg('StepStarted'::text),
        e_steps || array_agg(u.step order by u.n),
        e_attempts || array_agg('1'::text),
        e_engine || array_agg(1),
        e_data
          || array_agg(
            concat(
              '{"jobId":"', u.id, '","kind":"', u.kind, '","worker":', to_json(p_taker), '}'
            )::jsonb
            order by u.n
          ),
        e_each || array_agg(null::smallint)
      into taken, answers, e_runs, e_types, e_steps, e_attempts, e_engine, e_data, e_each
      from unnest(m.ids, m.answers, n_runs, n_ids, n_kinds, n_taken)
        with ordinality u(id, answer, run, step, kind, taken, n)
      where u.taken;
    end if;
  end if;

  perform writ_data.append_events(
    e_runs, e_types, e_steps, e_attempts, e_engine, e_data,
    case when array_remove(e_each, null) <> '{}' then e_each end,
    null, p_command, p_actor, p_at, v_jobs, false
  );

  if not v_others then
    return;
  end if;

  -- Look at the other runs one by one.
  for m in
    select
      u.run,
      array_agg(distinct f.no)
        filter (where f.no is not null and not u.undo and u.place is null) as next,
      array_agg(distinct u.step) filter (where u.place is not null and not u.undo) as lists
    from unnest(j_runs, j_steps, j_places, j_undo) u(run, step, place, undo)
    cross join lateral (
      select *
      from writ_data.run x
      where x.run_id = u.run and x.run_id between r_lo and r_hi
      offset 0
    ) r
    join writ_data.plan_step p on p.plan_no = r.plan_no and p.step_no = u.step
    left join lateral unnest(p.next) f(no) on true
    where not (
      p.plain
      and not u.undo
      and u.place is null
      and r.ending is null
      and not r.steered
      and r.status in ('RUNNING', 'COMPLETED')
    )
    group by u.run
    order by u.run
  loop
    perform writ_data.move_run(
      m.run,
      coalesce(m.next, '{}') || writ_data.move_lists(m.run, m.lists, p_actor, p_at),
      p_actor, p_at
    );
  end loop;

  followed := true;
  ended := array(
    select r.run_id
    from writ_data.run r
    where r.run_id = any (j_runs)
      and r.run_id between r_lo and r_hi
      and r.status in ('COMPLETED', 'FAILED', 'CANCELLED')
  );

  -- A wait without a timeout is never due.
  due := (select min(w.due_at) from writ_data.job_wait w having min(w.due_at) < 'infinity');
end $$;
