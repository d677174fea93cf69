-- Moves lists on whose elements have ended. As long as no element has failed, it enqueues as many
-- others; when all have ended, the step that goes over the list ends. After a failure it waits only
-- for elements that run, because the claim turns the others away. The next element is the one
-- behind the last that has a job, so a list continues after a pause where it stopped. The newest
-- event of a list has its tally: nothing is counted again. The caller has locked the run. Answers
-- the steps that come after a list that has ended.
create or replace function writ_data.move_lists(
  p_run uuid,
  p_steps smallint[],
  p_actor text,
  p_at timestamptz
) returns smallint[]
language plpgsql
set enable_seqscan = off
as $$
declare
  r writ_data.run;
  s writ_data.plan_step;
  v_no smallint;
  v_attempt smallint;
  v_all integer;
  v_items integer;
  v_begun integer;
  v_ended integer;
  v_stopped integer;
  v_error jsonb;
  v_next smallint[] := '{}'::smallint[];
begin
  foreach v_no in array coalesce(p_steps, '{}') loop
    -- How the list stands: elements, begun, ended, and where it was stopped.
    select * into r from writ_data.run where run_id = p_run;
    select * into s from writ_data.plan_step where plan_no = r.plan_no and step_no = v_no;

    select e.logical_attempt::smallint, (e.data ->> 'items')::integer
    into v_attempt, v_all
    from writ_data.run_event e
    where e.run_id = p_run and e.step_id = s.step_id and e.event_type = 'StepStarted'
    order by e.run_seq desc
    limit 1;

    select i.place + 1
    into v_items
    from writ_data.run_item i
    where i.run_id = p_run and i.step_no = v_no and i.attempt = v_attempt
    order by i.place desc
    limit 1;

    select e.tally, e.stopped_at
    into v_ended, v_stopped
    from writ_data.run_event e
    where e.run_id = p_run and e.each_no = v_no and e.logical_attempt = v_attempt::text
    order by e.tally desc
    limit 1;

    select j.place + 1
    into v_begun
    from writ_data.job j
    where j.run_id = p_run and j.step_no = v_no and j.logical_attempt = v_attempt and j.undo is null
    order by j.place desc
    limit 1;
    v_ended := coalesce(v_ended, 0);

    if v_stopped is null and v_begun < v_items and r.status = 'RUNNING' and r.ending is null then
      perform writ_data.enqueue_items(
        r, s, v_attempt, v_begun,
        least(v_items, v_ended + s.parallel) - v_begun,
        p_actor, p_at
      );
    elsif r.ending is null
      and (
        v_stopped is null and v_ended = v_items
        or v_stopped is not null
          and not exists (
            select from writ_data.open_steps(p_run) o where o.step_no = v_no and o.type = 'job'
          )
      )
    then
      if v_stopped is null then
        perform writ_data.append_events(
          array[p_run], array['StepCompleted'], array[s.step_id], array[v_attempt::text],
          array[null::integer],
          array[jsonb_build_object('items', v_all, 'artifacts', '[]'::jsonb)],
          null, null, 'fn_run_move', p_actor, p_at
        );

        v_next := v_next || s.next;
      else
        select e.data -> 'error'
        into v_error
        from writ_data.run_event e
        where e.run_id = p_run
          and e.each_no = v_no
          and e.logical_attempt = v_attempt::text
          and e.tally = v_stopped;

        perform writ_data.append_events(
          array[p_run], array['StepFailed'], array[s.step_id], array[v_attempt::text],
          array[null::integer], array[jsonb_build_object('error', v_error)], null, null,
          'fn_run_move', p_actor, p_at
        );

        perform writ_data.step_failed(
          p_run, v_no, v_error ->> 'errorCode', v_error ->> 'errorMessage', p_actor, p_at
        );
        if s.optional then
          v_next := v_next || s.next;
        end if;
      end if;
    end if;
  end loop;
  return v_next;
end $$;
