-- Returns what a claim says about a job that is a step: a JSON array of run, step, logical attempt,
-- plan, version, timeout, and the number of its effect key if that is not the first; null if the
-- run is gone.
create or replace function writ_data.on_job_described(
  p_run uuid,
  p_step smallint,
  p_place integer,
  p_attempt smallint,
  p_undo boolean
) returns text
language sql stable
as $$
  select coalesce((
    select concat('["', p_run, '","',
      writ_data.step_name(p_run, s.step_id, p_step, p_place, p_attempt, p_undo), '",', p_attempt,
      ',"', p.plan_id, '","', p.plan_version, '",', coalesce(s.timeout_ms::text, 'null'),
      case when p_attempt > 1 and not p_undo then writ_data.step_effect(p_run, s.step_id) end, ']')
    from writ_data.run r
    join writ_data.plan p on p.plan_no = r.plan_no
    join writ_data.plan_step s on s.plan_no = r.plan_no and s.step_no = p_step
    where r.run_id = p_run), 'null')
$$;
