-- Changes a setting. Only settings that something reads exist, and a value keeps its type.
-- Callers: writ_admin
-- Answers: {key, value, was}.
-- Refuses: actor_required, tenant_forbidden, unknown_setting, invalid_setting.
-- Locks:   the row of the setting.
create or replace function writ.fn_setting_set(p_key text, p_value jsonb, p_actor text)
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  v_setting writ_data.dot_config;
begin
  if coalesce(btrim(p_actor), '') = '' then
    return writ_data.refusal('actor_required');
  elsif writ_data.caller_tenant() is not null then
    return writ_data.refusal('tenant_forbidden', 'Settings hold for all tenants.');
  end if;

  select * into v_setting from writ_data.dot_config where key = p_key for update;
  if not found then
    return writ_data.refusal('unknown_setting', p_key);
  elsif jsonb_typeof(p_value) is distinct from jsonb_typeof(v_setting.value) then
    return writ_data.refusal('invalid_setting',
      format('%s is a %s.', p_key, jsonb_typeof(v_setting.value)));
  elsif jsonb_typeof(p_value) = 'number' and (
      p_value::numeric not between v_setting.minimum and v_setting.maximum
      or v_setting.whole and p_value::numeric % 1 <> 0) then
    return writ_data.refusal('invalid_setting',
      format('%s is a %s from %s to %s.',
        p_key,
        case when v_setting.whole then 'whole number' else 'number' end,
        v_setting.minimum,
        v_setting.maximum));
  end if;

  update writ_data.dot_config
  set value = p_value, updated_at = v_now, updated_by = p_actor
  where key = p_key;
  perform writ_data.control_receipt(
    null, 'setting', p_key, v_setting.value, p_value, p_actor, v_now);
  perform writ_data.record('fn_setting_set', p_actor, v_now, '{}', '{}', '{}', '{}',
    p_note => format('%s: %s → %s', p_key, v_setting.value, p_value));
  return jsonb_build_object('key', p_key, 'value', p_value, 'was', v_setting.value);
end $$;
