-- Appends the events of steps whose jobs have failed for good, or were cancelled, and what that
-- means for their runs, in the transaction that ends the jobs. Jobs that are not steps are passed
-- over. A run that cannot be moved is set aside; the others go on.
create or replace function writ_data.steps_failed(
  p_jobs uuid[],
  p_codes text[],
  p_messages text[],
  p_attempts integer[],
  p_command text,
  p_actor text,
  p_at timestamptz
) returns void
language plpgsql
set enable_seqscan = off
as $$
declare
  v_runs uuid[];
  v_category text;
  j record;
begin
  select array_agg(distinct x.run_id) into v_runs
  from writ_data.job x
  where x.job_id = any (p_jobs) and x.run_id is not null;
  if v_runs is null then
    return;
  end if;
  perform writ_data.lock_runs(v_runs);

  for j in
    select x.job_id, x.run_id, x.step_no, x.place, coalesce(x.undo, false) as undo,
      x.logical_attempt, u.code, coalesce(u.message, u.code) as message, u.attempt, p.next,
      p.optional,
      writ_data.step_name(x.run_id, p.step_id, x.step_no, x.place, x.logical_attempt,
        coalesce(x.undo, false)) as step_id
    from unnest(p_jobs, p_codes, p_messages, p_attempts)
      with ordinality u(id, code, message, attempt, n)
    join writ_data.job x on x.job_id = u.id and x.run_id is not null
    join writ_data.run r on r.run_id = x.run_id
    join writ_data.plan_step p on p.plan_no = r.plan_no and p.step_no = x.step_no
    order by u.n
  loop
    -- A job that never began, because its run did not let it, leaves no trace: its step is still to
    -- come, or never will.
    continue when j.code = 'run_not_running' and not exists (
      select from writ_data.run_event e
      where e.run_id = j.run_id and e.step_id = j.step_id
        and e.logical_attempt = j.logical_attempt::text and e.event_type = 'StepStarted');

    v_category := case
      when j.code in ('timeout', 'deadline_exceeded') then 'TIMEOUT'
      when j.code in ('poison', 'lease_expired') then 'PLATFORM'
      when j.code in ('cancelled', 'run_not_running') then 'USER'
      else 'SYSTEM'
    end;
    begin
      perform writ_data.append_events(array[j.run_id], array['StepFailed'], array[j.step_id],
        array[j.logical_attempt::text], array[j.attempt],
        array[jsonb_build_object('error', jsonb_build_object(
          'errorCode', coalesce(j.code, 'handler_error'),
          'errorMessage', left(coalesce(j.message, ''), 1000),
          -- A handler's PermanentFailure says that no retry can help.
          'retryable', coalesce(j.code, '') not in ('invalid_input', 'poison') and not exists (
            select from writ_data.job_execution e
            where e.job_id = j.job_id and e.final and e.abort_kind = 'permanent'),
          'failureCategory', v_category, 'failureSource', 'step'))],
        case when j.place is not null and not j.undo then array[j.step_no] end, null, p_command,
        p_actor, p_at);
      if j.undo then
        perform writ_data.wind_up(j.run_id, p_actor, p_at);
      elsif j.place is not null then
        perform writ_data.move_run(j.run_id,
          writ_data.move_lists(j.run_id, array[j.step_no], p_actor, p_at), p_actor, p_at);
      else
        perform writ_data.step_failed(j.run_id, j.step_no, j.code, j.message, p_actor, p_at);
        perform writ_data.move_run(j.run_id, case when j.optional then j.next end, p_actor, p_at);
      end if;
    exception when others then
      if writ_data.is_transient(sqlstate) or writ_data.is_callers_fault(sqlstate) then
        raise;
      end if;
      perform writ_data.set_run_aside(j.run_id, 'RUN_STUCK',
        'What follows from a failed step cannot be begun.', p_actor, p_at);
    end;
  end loop;
end $$;
