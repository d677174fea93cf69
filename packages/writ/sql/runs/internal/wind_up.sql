-- Winds up a run that is ending. While a step runs, it waits; in a run that was stopped, the claim
-- turns away an undo that has not begun. Then it undoes what was done and can be undone, one after
-- the other, the newest first. Then it ends the run. The caller has locked the run.
create or replace function writ_data.wind_up(
  p_run uuid,
  p_actor text,
  p_at timestamptz
) returns void
language plpgsql
set enable_seqscan = off
as $$
declare
  r writ_data.run;
  d record;
  v_input text;
  v_open text[];
  v_attempts text[];
  v_failed text[];
  v_undone boolean;
begin
  select * into r from writ_data.run where run_id = p_run;
  if r.status in ('COMPLETED', 'FAILED', 'CANCELLED')
    or exists (select from writ_data.open_steps(p_run) o where o.type in ('job', 'undo'))
    or coalesce(r.ending_with ->> 'undo', 'true') = 'true'
      and exists (
        select from writ_data.job j
        where j.run_id = p_run
          and j.undo
          and not exists (
            select from writ_data.job_execution e
            where e.job_id = j.job_id and (e.final or e.status <> 'ABORTED')
          )
      )
  then
    return;
  end if;

  -- Skip lists that will not go on, and waits whose rows another session was moving.
  select array_agg(o.step_id), array_agg(o.attempt::text)
  into v_open, v_attempts
  from writ_data.open_steps(p_run) o;
  if v_open is not null then
    perform writ_data.append_events(
      array_fill(p_run, array[cardinality(v_open)]),
      array_fill('StepSkipped'::text, array[cardinality(v_open)]),
      v_open, v_attempts,
      array_fill(null::integer, array[cardinality(v_open)]),
      array_fill('{"reasonCode": "DEPENDENCY_FAILED"}'::jsonb, array[cardinality(v_open)]),
      null, null, 'fn_run_move', p_actor, p_at
    );
  end if;

  -- Undo the newest effect. An undo that has failed for good ends undoing, because earlier effects
  -- may depend on it.
  if coalesce(r.ending_with ->> 'undo', 'true') = 'true'
    and not exists (
      select from writ_data.run_event u
      where u.run_id = p_run and u.step_id like 'undo:%' and u.event_type = 'StepFailed'
    )
  then
    select
      s.*,
      e.step_id as done_id,
      j.place as done_place,
      j.logical_attempt as done_attempt,
      j.input as done_input,
      (
        select i.value
        from writ_data.run_item i
        where j.place is not null
          and i.run_id = p_run
          and i.step_no = j.step_no
          and i.attempt = j.logical_attempt
          and i.place = j.place
      ) as item
    into d
    from writ_data.run_event e
    join writ_data.plan_step s
      on s.plan_no = r.plan_no
      and s.step_id = regexp_replace(e.step_id, '[[][0-9]+[]]$', '')
      and s.undo_kind is not null
    join writ_data.job j
      on j.run_id = p_run
      and j.step_no = s.step_no
      and j.undo is null
      and j.logical_attempt = e.logical_attempt::smallint
      and (
        j.place is null and e.each_no is null
        or e.each_no is not null
          and exists (
            select from writ_data.run_item i
            where i.run_id = p_run
              and i.step_no = s.step_no
              and i.attempt = j.logical_attempt
              and i.place = j.place
              and e.step_id = format('%s[%s]', s.step_id, i.item)
          )
      )
      and exists (
        select from writ_data.job_execution x
        where x.job_id = j.job_id and x.status in ('COMMITTED', 'DONE')
      )
    where e.run_id = p_run
      and e.event_type = 'StepCompleted'
      and e.step_id not like 'undo:%'
      and not exists (
        select from writ_data.run_event u
        where u.run_id = p_run
          and u.step_id = 'undo:' || e.step_id
          and u.event_type in ('StepCompleted', 'StepFailed')
      )
    order by e.run_seq desc
    limit 1;
    if found then
      v_input := case
        when d.undo_input is null then d.done_input::text
        else writ_data.step_input(d.undo_input, p_run, r.plan_no, r.input, d.item)
      end;
      perform writ_data.record_jobs(
        (writ_data.enqueue_steps(
          array[p_run], array[d.step_no], array[d.done_place], array[d.done_attempt], array[true],
          array[v_input], p_actor, p_at
        )).ids,
        p_actor, p_at
      );
      return;
    end if;
  end if;

  -- Nothing is left to undo: end the run.
  select
    array_agg(u.step_id order by u.run_seq) filter (where u.event_type = 'StepFailed'),
    bool_and(u.event_type = 'StepCompleted')
  into v_failed, v_undone
  from writ_data.run_event u
  where u.run_id = p_run
    and u.step_id like 'undo:%'
    and u.event_type in ('StepCompleted', 'StepFailed');

  perform writ_data.append_events(
    array[p_run],
    array[case r.ending when 'FAILED' then 'RunFailed' else 'RunCancelled' end],
    array['RUN'], array['1'], array[null::integer],
    array[jsonb_strip_nulls(r.ending_with - 'undo' || jsonb_build_object('undone', v_undone))],
    null, null, 'fn_run_move', p_actor, p_at
  );

  update writ_data.run set status = r.ending, moved_at = p_at where run_id = p_run;
  if r.governed_by is not null then
    perform writ_data.on_run_ended(r.governed_by, r.tenant_id, p_actor, p_at);
  end if;
  if v_failed is not null then
    perform writ_data.raise_alert(
      'COMPENSATION_FAILED', 'P1', r.tenant_id, 'run/' || p_run,
      jsonb_build_object('steps', to_jsonb(v_failed)),
      p_actor, p_at
    );
  end if;
end $$;
