-- Looks at steps that may be able to begin now, p_steps, and begins, skips or leaves each; a
-- skipped step lets others be looked at. Then it ends the run: when the last steps have ended, the
-- run is completed; when it is ending, it winds up. The caller has locked the run.
create or replace function writ_data.move_run(
  p_run uuid,
  p_steps smallint[],
  p_actor text,
  p_at timestamptz
) returns void
language plpgsql
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  r writ_data.run;
  s writ_data.plan_step;
  v_queue smallint[] := coalesce(p_steps, '{}');
  v_open integer;
  v_failed integer;
  v_reason text;
begin
  select * into r from writ_data.run where run_id = p_run;
  if r.ending is not null then
    perform writ_data.wind_up(p_run, p_actor, p_at);
    return;
  elsif r.status <> 'RUNNING' or r.engine <> 'native' then
    return;
  end if;
  while cardinality(v_queue) > 0 loop
    select * into s from writ_data.plan_step where plan_no = r.plan_no and step_no = v_queue[1];
    v_queue := v_queue[2:];
    continue when writ_data.step_begun(p_run, s);
    select
      count(*) filter (where d.how is null or d.how = 'open'),
      count(*) filter (where d.how in ('failed', 'blocked'))
    into v_open, v_failed
    from unnest(s.after) a(no)
    join writ_data.plan_step p on p.plan_no = r.plan_no and p.step_no = a.no
    cross join lateral (select writ_data.step_stands(p_run, p.step_id) as how offset 0) d;
    continue when v_open > 0;

    v_reason := case
      when v_failed > 0 then 'DEPENDENCY_FAILED'
      when not writ_data.holds(s.condition, p_run, r.plan_no, r.input) then 'CONDITION_FALSE'
    end;
    if v_reason is not null then
      perform writ_data.append_events(
        array[p_run], array['StepSkipped'], array[s.step_id], array['1'], array[null::integer],
        array[jsonb_build_object('reasonCode', v_reason)],
        null, null, 'fn_run_move', p_actor, p_at
      );

      v_queue := v_queue || s.next;
    elsif writ_data.begin_step(r, s, 1::smallint, p_actor, p_at) then
      v_queue := v_queue || s.next;
    end if;

    -- A step over a value that is not a list fails, and with it the run.
    select * into r from writ_data.run where run_id = p_run;
    if r.ending is not null or r.status <> 'RUNNING' then
      return;
    end if;
  end loop;

  -- When the last steps have ended, all have, unless one was skipped before its time or retried.
  if not exists (
    select from writ_data.plan p
    cross join lateral unnest(p.last_steps) l(no)
    join writ_data.plan_step x on x.plan_no = p.plan_no and x.step_no = l.no
    where p.plan_no = r.plan_no
      and coalesce(writ_data.step_stands(p_run, x.step_id), 'open') = 'open'
  )
    and (
      not r.steered
      or not exists (
        select from writ_data.plan_step x
        where x.plan_no = r.plan_no
          and coalesce(writ_data.step_stands(p_run, x.step_id), 'open') = 'open'
      )
    )
  then
    perform writ_data.append_events(
      array[p_run], array['RunCompleted'], array['RUN'], array['1'], array[null::integer],
      array['{}'::jsonb], null, null, 'fn_run_move', p_actor, p_at
    );
    update writ_data.run set status = 'COMPLETED', moved_at = p_at where run_id = p_run;
  end if;
end $$;
