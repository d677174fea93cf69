-- Resumes a paused schedule. Its catch-up rule applies to the ticks of the pause, as to ticks that
-- were missed because no scheduler ran.
-- Callers: writ_admin, writ_server
-- Answers: {schedule, changed}.
-- Refuses: actor_required, invalid_actor, schedule_not_found (also for another tenant's).
-- Locks:   the row of the schedule.
create or replace function writ.fn_schedule_resume(
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
begin
  if coalesce(btrim(p_actor), '') = '' then
    return writ_data.refused('fn_schedule_resume', p_actor, 'actor_required');
  elsif length(p_actor) > 200 then
    return writ_data.refused('fn_schedule_resume', p_actor, 'invalid_actor');
  end if;

  select * into v_schedule
  from writ_data.schedule
  where tenant_id = p_tenant_id and schedule = p_schedule and writ_data.visible(tenant_id)
  for update;
  if not found then
    return writ_data.refused(
      'fn_schedule_resume', p_actor, 'schedule_not_found', left(p_schedule, 200)
    );
  elsif v_schedule.paused_at is null then
    return jsonb_build_object('schedule', p_schedule, 'changed', false);
  end if;

  update writ_data.schedule
  set paused_at = null, paused_by = null
  where tenant_id = p_tenant_id and schedule = p_schedule;
  perform writ_data.record(
    'fn_schedule_resume', p_actor, v_now, '{}', '{}', '{}', '{}', p_note => p_schedule
  );
  return jsonb_build_object('schedule', p_schedule, 'changed', true);
end $$;
