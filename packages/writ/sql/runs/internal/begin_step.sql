-- Begins one step of a run, by its type: it enqueues a job; it notes the elements of a list and
-- enqueues the first of them; or it puts a timer, or a wait for a delivery, into the queue until it
-- is due. Answers whether the step has ended with that, so that others can begin: an empty list, a
-- delivery that had come already, or an optional step whose list is not a list. The caller has
-- locked the run.
create or replace function writ_data.begin_step(
  r writ_data.run,
  s writ_data.plan_step,
  p_attempt smallint,
  p_actor text,
  p_at timestamptz
) returns boolean
language plpgsql
set enable_seqscan = off
as $$
declare
  v_list jsonb;
  v_first smallint;
  v_n integer;
  v_due timestamptz;
  v_job uuid;
  v_delivery writ_data.run_delivery;
  v_data jsonb;
begin
  if s.type = 'job' then
    perform writ_data.record_jobs(
      (writ_data.enqueue_steps(
        array[r.run_id], array[s.step_no], array[null::integer], array[p_attempt], array[false],
        array[writ_data.step_input(s.input, r.run_id, r.plan_no, r.input, null)],
        p_actor, p_at
      )).ids,
      p_actor, p_at
    );
    return false;
  elsif s.type = 'each' then
    select min(i.attempt)
    into v_first
    from writ_data.run_item i
    where i.run_id = r.run_id and i.step_no = s.step_no;
    if v_first is null then
      v_list := writ_data.run_value(r.run_id, r.plan_no, r.input, null, s.over);
      if jsonb_typeof(v_list) is distinct from 'array' or jsonb_array_length(v_list) > 10000 then
        perform writ_data.append_events(
          array[r.run_id, r.run_id], array['StepStarted', 'StepFailed'],
          array[s.step_id, s.step_id], array[p_attempt::text, p_attempt::text],
          array[null::integer, null],
          array[
            '{}',
            jsonb_build_object(
              'error', jsonb_build_object(
                'errorCode', 'INVALID_LIST',
                'errorMessage', format('%s is not a list of at most 10,000 elements.', s.over),
                'retryable', false,
                'failureCategory', 'USER',
                'failureSource', 'plan'
              )
            )
          ],
          null, null, 'fn_run_move', p_actor, p_at
        );

        perform writ_data.step_failed(
          r.run_id, s.step_no, 'INVALID_LIST',
          format('%s is not a list of at most 10,000 elements.', s.over),
          p_actor, p_at
        );
        return s.optional;
      end if;

      insert into writ_data.run_item (run_id, step_no, attempt, place, item, value)
      select r.run_id, s.step_no, p_attempt, e.n - 1, e.n - 1, e.value
      from jsonb_array_elements(v_list) with ordinality e(value, n);
    else
      -- A retry: only for elements that have not succeeded.
      insert into writ_data.run_item (run_id, step_no, attempt, place, item, value)
      select
        r.run_id, s.step_no, p_attempt,
        row_number() over (order by i.item) - 1,
        i.item, i.value
      from writ_data.run_item i
      where i.run_id = r.run_id
        and i.step_no = s.step_no
        and i.attempt = v_first
        and not exists (
          select from writ_data.run_event e
          where e.run_id = r.run_id
            and e.step_id = format('%s[%s]', s.step_id, i.item)
            and e.event_type = 'StepCompleted'
        );
    end if;

    select count(*)
    into v_n
    from writ_data.run_item i
    where i.run_id = r.run_id and i.step_no = s.step_no and i.attempt = p_attempt;
    perform writ_data.append_events(
      array[r.run_id], array['StepStarted'], array[s.step_id], array[p_attempt::text],
      array[null::integer],
      array[jsonb_build_object(
        'items', (
          select count(*)
          from writ_data.run_item i
          where i.run_id = r.run_id
            and i.step_no = s.step_no
            and i.attempt = coalesce(v_first, p_attempt)
        ),
        'parallel', s.parallel
      )],
      null, null, 'fn_run_move', p_actor, p_at
    );

    if v_n = 0 then
      perform writ_data.append_events(
        array[r.run_id], array['StepCompleted'], array[s.step_id], array[p_attempt::text],
        array[null::integer], array['{"items": 0, "artifacts": []}'::jsonb], null, null,
        'fn_run_move', p_actor, p_at
      );
      return true;
    end if;

    perform writ_data.enqueue_items(r, s, p_attempt, 0, least(v_n, s.parallel), p_actor, p_at);
    return false;
  end if;

  if s.type = 'wait' then
    select *
    into v_delivery
    from writ_data.run_delivery d
    where d.run_id = r.run_id and d.event = s.event and d.taken_by is null
    order by d.delivered_at, d.delivery_id
    limit 1;
  end if;

  v_due := case
    when s.wait_ms is null then 'infinity'
    else p_at + s.wait_ms * interval '1 millisecond'
  end;
  v_job := writ_data.uuidv7();
  insert into writ_data.job (
    job_id, tenant_id, job_kind, event_domain, payload_classification, executor, max_attempts,
    priority, process_after, enqueued_by, enqueued_at, source_system, run_id, step_no,
    logical_attempt
  ) values (
    v_job, r.tenant_id, s.job_kind, 'dot', 'safe_metadata', 'PG_worker', 1, r.priority, v_due,
    p_actor, p_at, 'writ', r.run_id, s.step_no, p_attempt
  );

  v_data := jsonb_strip_nulls(jsonb_build_object(
    'jobId', v_job,
    'event', s.event,
    'dueAt', case
      when s.wait_ms is not null
        then to_char(v_due at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
    end
  ));

  perform writ_data.append_events(
    array[r.run_id], array['StepStarted'], array[s.step_id], array[p_attempt::text],
    array[null::integer], array[v_data], null, null, 'fn_run_move', p_actor, p_at, array[v_job]
  );
  if v_delivery.delivery_id is null then
    insert into writ_data.job_wait (
      due_at, job_kind, tenant_id, priority, job_id, attempts, execution_no, reason
    ) values (v_due, s.job_kind, r.tenant_id, r.priority, v_job, 0, 1, 'delay');
    return false;
  end if;
  perform writ_data.take_delivery(r.run_id, s, p_attempt, v_job, v_delivery, p_actor, p_at);
  return true;
end $$;
