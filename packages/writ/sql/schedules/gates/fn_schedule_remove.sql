-- Removes a schedule and the list of its ticks. Jobs that it has enqueued stay.
-- Callers: writ_admin, writ_server
-- p_version: the version that the caller knows; null: any.
-- Answers: {schedule, removed: true}.
-- Refuses: actor_required, invalid_actor, schedule_not_found (also for another tenant's),
--          schedule_moved (with its version).
-- Locks:   the row of the schedule.
create or replace function writ.fn_schedule_remove(
  p_schedule text,
  p_actor text,
  p_tenant_id text default 'default',
  p_version integer default null
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_version integer;
begin
  if coalesce(btrim(p_actor), '') = '' then
    return writ_data.refused('fn_schedule_remove', p_actor, 'actor_required');
  elsif length(p_actor) > 200 then
    return writ_data.refused('fn_schedule_remove', p_actor, 'invalid_actor');
  end if;

  select version into v_version
  from writ_data.schedule
  where tenant_id = p_tenant_id and schedule = p_schedule and writ_data.visible(tenant_id)
  for update;
  if not found then
    return writ_data.refused(
      'fn_schedule_remove', p_actor, 'schedule_not_found', left(p_schedule, 200)
    );
  elsif v_version <> p_version then
    return writ_data.refused(
      'fn_schedule_remove', p_actor, 'schedule_moved', format('version %s', v_version)
    );
  end if;

  delete from writ_data.schedule where tenant_id = p_tenant_id and schedule = p_schedule;
  perform writ_data.record(
    'fn_schedule_remove', p_actor, writ.now(), '{}', '{}', '{}', '{}', p_note => p_schedule
  );
  return jsonb_build_object('schedule', p_schedule, 'removed', true);
end $$;
