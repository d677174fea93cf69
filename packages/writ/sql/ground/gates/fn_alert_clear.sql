-- Clears an alert after an operator has dealt with its cause. The record has the operator and the
-- reason.
-- Callers: writ_admin, writ_server
-- Answers: {alert_id, code, subject, duplicate}. An alert that is cleared already does not change.
-- Refuses: actor_required, reason_required, alert_not_found (also for an alert of another tenant,
--          and for one of the deployment when the login is bound to a tenant).
-- Locks:   the alert.
create or replace function writ.fn_alert_clear(
  p_alert_id uuid,
  p_reason text,
  p_actor text
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  v_only text := writ_data.caller_tenant();
  v_alert writ_data.alert;
begin
  if coalesce(btrim(p_actor), '') = '' or length(p_actor) > 200 then
    return writ_data.refusal('actor_required');
  elsif length(coalesce(btrim(p_reason), '')) < 10 then
    return writ_data.refusal('reason_required');
  end if;

  select * into v_alert from writ_data.alert
  where alert_id = p_alert_id and (v_only is null or tenant_id = v_only)
  for update;
  if not found then
    return writ_data.refusal('alert_not_found', p_alert_id::text);
  elsif v_alert.cleared_at is null then
    update writ_data.alert set cleared_at = v_now, cleared_by = p_actor
    where alert_id = p_alert_id;
    perform writ_data.record('alert', p_actor, v_now, array[p_alert_id],
      array['system.alert_cleared'], array[1], array[1],
      jsonb_build_object('code', v_alert.code, 'subject', v_alert.subject,
        'reason', left(p_reason, 1000)));
  end if;
  return jsonb_build_object('alert_id', p_alert_id, 'code', v_alert.code,
    'subject', v_alert.subject, 'duplicate', v_alert.cleared_at is not null);
end $$;
