-- Resumes a run: begins steps that could have begun meanwhile, enqueues jobs again that a claim
-- turned away, and moves lists on. The caller has locked the run.
create or replace function writ_data.resume_run(
  p_run uuid,
  p_signal uuid,
  p_actor text,
  p_at timestamptz
) returns void
language plpgsql
set enable_seqscan = off
as $$
declare
  r writ_data.run;
  v_lists smallint[];
  v_again record;
  v_step writ_data.plan_step;
  v_attempt smallint;
  v_next smallint[] := '{}'::smallint[];
begin
  update writ_data.run
  set status = 'RUNNING', moved_at = p_at
  where run_id = p_run
  returning *
  into r;

  perform writ_data.append_events(
    array[p_run], array['RunResumed'], array['RUN'], array[r.pauses::text], array[null::integer],
    array['{}'::jsonb], null, p_signal, 'fn_run_move', p_actor, p_at
  );
  perform writ_data.clear_alert('PAUSE_DRAIN_TIMEOUT', 'run/' || p_run, p_actor, p_at);

  -- Enqueue again elements of lists that go on, and steps of a later attempt, whose job ended
  -- without having begun.
  select
    array_agg(j.step_no) as steps,
    array_agg(j.place) as places,
    array_agg(j.logical_attempt) as attempts,
    array_agg(j.input::text) as inputs
  into v_again
  from writ_data.job j
  where j.run_id = p_run
    and j.undo is null
    and (j.place is not null or j.logical_attempt > 1)
    and exists (
      select from writ_data.job_execution e
      where e.job_id = j.job_id and e.final and e.error_code = 'run_not_running'
    )
    and (
      j.place is null
      or not coalesce(
        (
          select e.stopped_at is not null
          from writ_data.run_event e
          where e.run_id = p_run
            and e.each_no = j.step_no
            and e.logical_attempt = j.logical_attempt::text
          order by e.tally desc
          limit 1
        ),
        false
      )
    )
    and not exists (
      select from writ_data.job o
      where o.run_id = p_run
        and o.step_no = j.step_no
        and o.logical_attempt = j.logical_attempt
        and o.place is not distinct from j.place
        and o.undo is null
        and o.job_id > j.job_id
    )
    and not exists (
      select from writ_data.plan_step q
      join writ_data.run_event e
        on e.run_id = p_run
        and e.logical_attempt = j.logical_attempt::text
        and e.event_type in ('StepCompleted', 'StepFailed', 'StepSkipped')
        and e.step_id = writ_data.step_name(
          p_run, q.step_id, j.step_no, j.place, j.logical_attempt, false
        )
      where q.plan_no = r.plan_no and q.step_no = j.step_no
    );
  if v_again.steps is not null then
    perform writ_data.record_jobs(
      (writ_data.enqueue_steps(
        array_fill(p_run, array[cardinality(v_again.steps)]),
        v_again.steps, v_again.places, v_again.attempts,
        array_fill(false, array[cardinality(v_again.steps)]),
        v_again.inputs, p_actor, p_at
      )).ids,
      p_actor, p_at
    );
  end if;

  -- Begin steps for which a retry was requested meanwhile.
  if r.steered then
    for v_step in
      select p.*
      from writ_data.plan_step p
      where p.plan_no = r.plan_no and writ_data.step_stands(p_run, p.step_id) = 'open'
      order by p.step_no
    loop
      select e.logical_attempt::smallint + 1
      into v_attempt
      from (
        select x.*
        from writ_data.run_event x
        where x.run_id = p_run and x.step_id = v_step.step_id
        order by x.run_seq desc
        limit 1
      ) e
      where e.event_type = 'StepFailed';
      continue when v_attempt is null
        or exists (
          select from writ_data.job j
          where j.run_id = p_run
            and j.step_no = v_step.step_no
            and j.logical_attempt = v_attempt
            and j.undo is null
        );

      if writ_data.begin_step(r, v_step, v_attempt, p_actor, p_at) then
        v_next := v_next || v_step.next;
      end if;
    end loop;
  end if;

  select array_agg(o.step_no) into v_lists from writ_data.open_steps(p_run) o where o.type = 'each';
  perform writ_data.move_run(
    p_run,
    coalesce(writ_data.move_lists(p_run, v_lists, p_actor, p_at), '{}')
      || v_next
      || array(
        select x.step_no from writ_data.plan_step x where x.plan_no = r.plan_no order by x.step_no
      ),
    p_actor, p_at
  );
end $$;
