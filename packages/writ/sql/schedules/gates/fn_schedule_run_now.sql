-- Enqueues the job of a schedule at once, paused or not. This is not a tick, and does not change
-- the next tick.
-- Callers: writ_admin, writ_server
-- Answers: {schedule, job_id}.
-- Refuses: actor_required, invalid_actor, schedule_not_found (also for another tenant's), and what
--          the queue refuses its job for.
-- Locks:   none of the schedule.
create or replace function writ.fn_schedule_run_now(
  p_schedule text,
  p_actor text,
  p_tenant_id text default 'default'
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  v_schedule writ_data.schedule;
  v_job jsonb;
  v_answer jsonb;
begin
  if coalesce(btrim(p_actor), '') = '' then
    return writ_data.refused('fn_schedule_run_now', p_actor, 'actor_required');
  elsif length(p_actor) > 200 then
    return writ_data.refused('fn_schedule_run_now', p_actor, 'invalid_actor');
  end if;

  select * into v_schedule
  from writ_data.schedule
  where tenant_id = p_tenant_id and schedule = p_schedule and writ_data.visible(tenant_id);
  if not found then
    return writ_data.refused(
      'fn_schedule_run_now', p_actor, 'schedule_not_found', left(p_schedule, 200)
    );
  end if;

  v_job := (writ_data.schedule_job(v_schedule, v_now) - 'key') #- '{safe_payload,tick}';
  v_answer := writ_data.enqueue_jobs(jsonb_build_array(v_job), p_actor);
  if v_answer ? 'reason' then
    return v_answer;
  elsif v_answer #> '{refused,0}' is not null then
    return writ_data.refusal(
      v_answer #>> '{refused,0,reason}', v_answer #>> '{refused,0,detail}'
    );
  end if;
  perform writ_data.record(
    'fn_schedule_run_now', p_actor, v_now, array[(v_job ->> 'id')::uuid], '{}', '{}', '{}',
    p_note => p_schedule
  );
  return jsonb_build_object('schedule', p_schedule, 'job_id', v_job -> 'id');
end $$;
