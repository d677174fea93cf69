-- Begins the steps among jobs that a claim has taken, as far as their runs let them. Appends
-- StepStarted, once per logical attempt, and answers the other steps by their places in p_jobs.
-- `held`: another session holds the run's lock; they go back to where they were. `over`: the run is
-- paused, ending, over or gone, or the step has ended, or another element has stopped its list;
-- they end without having begun. A step that began before a pause goes on to its end, also in
-- another execution, because its worker may have died. A claim never waits for a run.
create or replace function writ_data.on_jobs_claimed(
  p_jobs uuid[],
  p_execution_nos integer[],
  p_worker text,
  p_at timestamptz,
  out held integer[],
  out over integer[]
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
  v_runs uuid[];
  v_mine uuid[];                    -- the runs locked here

  -- The jobs that are steps, as parallel arrays.
  j_ns integer[];
  j_runs uuid[];
  j_steps smallint[];
  j_places integer[];
  j_attempts smallint[];
  j_undo boolean[];
  j_kinds text[];

  -- Events of the steps that begin.
  e_runs uuid[];
  e_steps text[];
  e_attempts text[];
  e_engine integer[];
  e_data jsonb[];
begin
  select min(x::text)::uuid, max(x::text)::uuid into v_lo, v_hi from unnest(p_jobs) x;

  select
    array_agg(u.n::integer),
    array_agg(j.run_id),
    array_agg(j.step_no),
    array_agg(j.place),
    array_agg(j.logical_attempt),
    array_agg(coalesce(j.undo, false)),
    array_agg(j.job_kind)
  into j_ns, j_runs, j_steps, j_places, j_attempts, j_undo, j_kinds
  from unnest(p_jobs) with ordinality u(id, n)
  cross join lateral (
    select *
    from writ_data.job x
    where x.job_id = u.id and x.job_id between v_lo and v_hi and x.run_id is not null
    offset 0
  ) j;
  held := '{}';
  over := '{}';
  if j_runs is null then
    return;
  end if;
  select array_agg(distinct x), min(x::text)::uuid, max(x::text)::uuid
  into v_runs, r_lo, r_hi
  from unnest(j_runs) x;

  -- Lock the runs that no other session holds, and judge each step under the lock.
  v_mine := array(
    select r.run_id
    from writ_data.run r
    where r.run_id = any (v_runs) and r.run_id between r_lo and r_hi
    order by r.run_id
    for no key update skip locked
  );
  with mine as materialized (
    select
      u.*, r.status, r.ending,
      coalesce(u.run = any (v_mine), false) as held_by_us,
      concat(
        case when u.undo then 'undo:' end,
        s.step_id,
        case
          when u.place is not null
            then (
              select format('[%s]', i.item)
              from writ_data.run_item i
              where i.run_id = u.run
                and i.run_id between r_lo and r_hi
                and i.step_no = u.step
                and i.attempt = u.attempt
                and i.place = u.place
            )
        end
      ) as name
    from unnest(j_ns, j_runs, j_steps, j_places, j_attempts, j_undo, j_kinds)
      u(n, run, step, place, attempt, undo, kind)
    left join lateral (
      select *
      from writ_data.run x
      where x.run_id = u.run and x.run_id between r_lo and r_hi
      offset 0
    ) r on true
    left join writ_data.plan_step s on s.plan_no = r.plan_no and s.step_no = u.step
  ), judged as materialized (
    select
      m.*,
      case
        when m.status is null then 'over'
        when not m.held_by_us then 'held'
        when m.status in ('COMPLETED', 'FAILED', 'CANCELLED')
          or exists (
            select from writ_data.run_event e
            where e.run_id = m.run
              and e.run_id between r_lo and r_hi
              and e.step_id = m.name
              and (
                e.event_type in ('StepCompleted', 'StepSkipped')
                or e.event_type = 'StepFailed' and e.logical_attempt = m.attempt::text
              )
          )
          then 'over'
        when m.undo or m.status = 'RUNNING' and m.ending is null and m.place is null then 'starts'
        when m.ending is not null then 'over'
        when exists (
          select from writ_data.run_event e
          where e.run_id = m.run
            and e.run_id between r_lo and r_hi
            and e.step_id = m.name
            and e.logical_attempt = m.attempt::text
            and e.event_type = 'StepStarted'
        )
          then 'starts'
        when m.status <> 'RUNNING'
          or (
            select e.stopped_at is not null
            from writ_data.run_event e
            where e.run_id = m.run
              and e.run_id between r_lo and r_hi
              and e.each_no = m.step
              and e.logical_attempt = m.attempt::text
            order by e.tally desc
            limit 1
          )
          then 'over'
        else 'starts'
      end as how
    from mine m
  )
  select
    coalesce(array_agg(n) filter (where how = 'held'), '{}'),
    coalesce(array_agg(n) filter (where how = 'over'), '{}'),
    array_agg(run order by n) filter (where how = 'starts' and p_execution_nos[n] = 1),
    array_agg(name order by n) filter (where how = 'starts' and p_execution_nos[n] = 1),
    array_agg(attempt::text order by n) filter (where how = 'starts' and p_execution_nos[n] = 1),
    array_agg(1) filter (where how = 'starts' and p_execution_nos[n] = 1),
    array_agg(jsonb_build_object('jobId', p_jobs[n], 'kind', kind, 'worker', p_worker) order by n)
      filter (where how = 'starts' and p_execution_nos[n] = 1)
  into held, over, e_runs, e_steps, e_attempts, e_engine, e_data
  from judged;

  if e_runs is not null then
    perform writ_data.append_events(
      e_runs,
      array_fill('StepStarted'::text, array[cardinality(e_runs)]),
      e_steps, e_attempts, e_engine, e_data, null, null, 'fn_job_claim', p_worker, p_at
    );
  end if;
end $$;
