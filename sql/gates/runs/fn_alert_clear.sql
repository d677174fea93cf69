-- Somebody has seen to what an alert is about: it is over, and the record says who says so and why. One that is over already is answered as it is.
-- Callers: writ_admin, writ_server
create or replace function writ.fn_alert_clear(p_alert_id uuid, p_reason text, p_actor text) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := writ.now(); a writ_data.alert;
begin
  if coalesce(btrim(p_actor), '') = '' then
    return writ_data.refusal('actor_required');
  elsif length(coalesce(btrim(p_reason), '')) < 10 then
    return writ_data.refusal('reason_required');
  end if;
  select * into a from writ_data.alert where alert_id = p_alert_id and (tenant_id is null or writ_data.visible(tenant_id)) for update;
  if not found then
    return writ_data.refusal('alert_not_found', p_alert_id::text);
  elsif a.cleared_at is null then
    update writ_data.alert set cleared_at = v_now, cleared_by = p_actor where alert_id = p_alert_id;
    perform writ_data.record('alert', p_actor, v_now, array[p_alert_id], array['system.alert_cleared'], array[1], array[1], jsonb_build_object('code', a.code, 'subject', a.subject, 'reason', left(p_reason, 1000)));
  end if;
  return jsonb_build_object('alert_id', p_alert_id, 'code', a.code, 'subject', a.subject, 'duplicate', a.cleared_at is not null);
end $$;
