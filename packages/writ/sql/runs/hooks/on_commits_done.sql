-- Moves runs on whose steps were committed before, now that their executions are DONE. A gate that
-- writes the event of a step moves the run on itself; the queue's own fn_job_commit does not.
create or replace function writ_data.on_commits_done(
  p_jobs uuid[],
  p_command text,
  p_actor text,
  p_at timestamptz
) returns void
language plpgsql
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_of_runs uuid[];          -- those of p_jobs that are steps, and the bounds of their ids
  v_lo uuid;
  v_hi uuid;
  v_runs uuid[];
  v_jobs uuid[];
  v_results text[];
  v_attempts smallint[];
begin
  select x.ids[1], x.ids[cardinality(x.ids)]
  into v_lo, v_hi
  from (select array_agg(u.id order by u.id) as ids from unnest(p_jobs) u(id)) x;

  select array_agg(j.job_id), array_agg(distinct j.run_id)
  into v_of_runs, v_runs
  from writ_data.job j
  where j.job_id = any (p_jobs) and j.job_id between v_lo and v_hi and j.run_id is not null;
  if v_runs is null then
    return;
  end if;
  perform writ_data.lock_runs(v_runs);

  -- Each job looks its rows up by their keys. A join would begin with all runs where the planner
  -- takes the table for small.
  select array_agg(j.job_id), array_agg(e.result), array_agg(e.attempt)
  into v_jobs, v_results, v_attempts
  from unnest(v_of_runs) u(id)
  cross join lateral (
    select x.job_id, x.run_id, x.step_no, x.place, x.logical_attempt, x.undo
    from writ_data.job x
    where x.job_id = u.id and x.job_id between v_lo and v_hi
    offset 0
  ) j
  cross join lateral (
    select x.result::text as result, x.attempt
    from writ_data.job_execution x
    where x.job_id = u.id and x.job_id between v_lo and v_hi and x.status = 'DONE'
    offset 0
  ) e
  cross join lateral (
    select x.plan_no from writ_data.run x where x.run_id = j.run_id offset 0
  ) r
  cross join lateral (
    select s.step_id
    from writ_data.plan_step s
    where s.plan_no = r.plan_no and s.step_no = j.step_no
    offset 0
  ) s
  where not exists (
    select from writ_data.run_event x
    where x.run_id = j.run_id
      and x.step_id = writ_data.step_name(
        j.run_id, s.step_id, j.step_no, j.place, j.logical_attempt, coalesce(j.undo, false)
      )
      and x.logical_attempt = j.logical_attempt::text
      and x.event_type = 'StepCompleted'
    offset 0
  );
  if v_jobs is not null then
    perform from writ_data.on_jobs_succeeded(
      v_jobs, v_results, v_attempts, p_command, p_actor, p_at
    );
  end if;
end $$;
