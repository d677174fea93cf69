-- Removes a schedule and the list of its ticks. Jobs that it has enqueued stay.
-- Callers: writ_admin, writ_server
create or replace function writ.fn_schedule_remove(p_schedule text, p_actor text, p_tenant_id text default 'default') returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if coalesce(btrim(p_actor), '') = '' then
    return writ_data.refusal('actor_required');
  end if;
  delete from writ_data.schedule where tenant_id = p_tenant_id and schedule = p_schedule and writ_data.visible(tenant_id);
  if not found then
    return writ_data.refusal('schedule_not_found', p_schedule);
  end if;
  perform writ_data.record('fn_schedule_remove', p_actor, writ.now(), '{}', '{}', '{}', '{}', p_note => p_schedule);
  return jsonb_build_object('schedule', p_schedule, 'removed', true);
end $$;
