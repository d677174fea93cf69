-- Begins runs that exist now: enqueues their first steps and appends RunStarted, or RunQueued to
-- those that wait for room. The caller has written or locked their rows. Runs of other engines are
-- passed over.
create or replace function writ_data.begin_runs(
  p_runs uuid[],
  p_command text,
  p_actor text,
  p_at timestamptz
) returns void
language plpgsql
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_jobs uuid[];

  -- First steps, then events of runs, as parallel arrays.
  s_runs uuid[];
  s_steps smallint[];
  s_inputs text[];
  s_types text[];
  e_data jsonb[];

  v_run uuid;
  v_lo uuid;
  v_hi uuid;
begin
  select min(x::text)::uuid, max(x::text)::uuid into v_lo, v_hi from unnest(p_runs) x;

  -- Enqueue all first steps that are jobs without a condition at once. Runs that begin with
  -- something else follow one by one, further down.
  select
    array_agg(r.run_id order by r.run_id, s.step_no),
    array_agg(s.step_no order by r.run_id, s.step_no),
    array_agg(
      writ_data.step_input(s.input, r.run_id, r.plan_no, r.input, null) order by r.run_id, s.step_no
    )
  into s_runs, s_steps, s_inputs
  from unnest(p_runs) u(id)
  cross join lateral (
    select * from writ_data.run x where x.run_id = u.id and x.run_id between v_lo and v_hi offset 0
  ) r
  join writ_data.plan_step s on s.plan_no = r.plan_no and s.after = '{}'
  where r.engine = 'native' and r.status = 'RUNNING' and s.type = 'job' and s.condition is null;
  if s_runs is not null then
    v_jobs := (writ_data.enqueue_steps(
      s_runs, s_steps,
      array_fill(null::integer, array[cardinality(s_runs)]),
      array_fill(1::smallint, array[cardinality(s_runs)]),
      array_fill(false, array[cardinality(s_runs)]),
      s_inputs, p_actor, p_at
    )).ids;
  end if;

  -- Append RunStarted or RunQueued.
  select
    array_agg(r.run_id),
    array_agg(case r.status when 'RUNNING' then 'RunStarted' else 'RunQueued' end),
    array_agg(jsonb_strip_nulls(jsonb_build_object(
      'planId', p.plan_id,
      'planVersion', p.plan_version,
      'planSha256', encode(p.sha256, 'hex'),
      'engine', r.engine,
      'engineRunRef', jsonb_build_object('engine', r.engine, 'runId', r.run_id),
      'originalRunId', r.original_run_id
    )))
  into s_runs, s_types, e_data
  from unnest(p_runs) u(id)
  cross join lateral (
    select * from writ_data.run x where x.run_id = u.id and x.run_id between v_lo and v_hi offset 0
  ) r
  join writ_data.plan p on p.plan_no = r.plan_no
  where r.engine = 'native';
  if s_runs is not null then
    perform writ_data.append_events(
      s_runs, s_types,
      array_fill('RUN'::text, array[cardinality(s_runs)]),
      array_fill('1'::text, array[cardinality(s_runs)]),
      array_fill(null::integer, array[cardinality(s_runs)]),
      e_data, null, null, p_command, p_actor, p_at, v_jobs, false
    );
  end if;

  for v_run in
    select distinct r.run_id
    from unnest(p_runs) u(id)
    cross join lateral (
      select *
      from writ_data.run x
      where x.run_id = u.id and x.run_id between v_lo and v_hi
      offset 0
    ) r
    join writ_data.plan_step s on s.plan_no = r.plan_no and s.after = '{}'
    where r.engine = 'native'
      and r.status = 'RUNNING'
      and not (s.type = 'job' and s.condition is null)
  loop
    perform writ_data.move_run(
      v_run,
      (
        select array_agg(s.step_no order by s.step_no)
        from writ_data.run r
        join writ_data.plan_step s on s.plan_no = r.plan_no and s.after = '{}'
        where r.run_id = v_run and not (s.type = 'job' and s.condition is null)
      ),
      p_actor, p_at
    );
  end loop;
end $$;
