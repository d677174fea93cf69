-- Ends timers and waits whose time has come, at most 200 at once: a call of the clockwork is to be
-- short, and it looks again at once while a timer is due. Those whose run another transaction has
-- locked are for the next turn. A run that cannot be moved is set aside; if even that fails, its
-- timer is tried again in an hour.
create or replace function writ_data.on_tick(
  p_actor text,
  p_at timestamptz
) returns integer
language plpgsql
set enable_seqscan = off
as $$
declare
  v_jobs uuid[];
  v_runs uuid[];
  v_mine uuid[];    -- the runs that could be locked
  v_part record;
begin
  select array_agg(x.job_id), array_agg(x.run_id) into v_jobs, v_runs
  from (
    select w.job_id, j.run_id
    from writ_data.job_wait w join writ_data.job j on j.job_id = w.job_id
    where w.due_at <= p_at and w.job_kind in ('writ.timer', 'writ.wait')
    order by w.due_at
    limit 200
    for update of w skip locked) x;
  if v_jobs is null then
    return 0;
  end if;
  v_mine := array(
    select r.run_id from writ_data.run r
    where r.run_id = any (v_runs)
    order by r.run_id
    for no key update skip locked);
  select array_agg(u.j) into v_jobs from unnest(v_jobs, v_runs) u(j, r) where u.r = any (v_mine);
  if v_jobs is null then
    return 0;
  end if;

  begin
    perform writ_data.end_timers(v_jobs, p_actor, p_at);
    return cardinality(v_jobs);
  exception when others then
    if writ_data.is_transient(sqlstate) then
      raise;
    end if;
  end;

  -- One of them raises: run by run.
  for v_part in
    select j.run_id, array_agg(j.job_id) as jobs
    from writ_data.job j
    where j.job_id = any (v_jobs)
    group by j.run_id
    order by j.run_id
  loop
    begin
      perform writ_data.end_timers(v_part.jobs, p_actor, p_at);
    exception when others then
      if writ_data.is_transient(sqlstate) then
        raise;
      end if;
      continue when writ_data.is_callers_fault(sqlstate);
      if not writ_data.set_run_aside(v_part.run_id, 'RUN_STUCK', 'Its timer cannot end.', p_actor,
        p_at) then
        update writ_data.job_wait w set due_at = p_at + interval '1 hour'
        where w.job_id = any (v_part.jobs);
      end if;
    end;
  end loop;
  return cardinality(v_jobs);
end $$;
