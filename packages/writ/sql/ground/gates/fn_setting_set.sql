-- Changes a setting. A new value must have the type of the old one. A list of numbers has 1 to 20,
-- each within the bounds of the setting.
-- Callers: writ_admin
-- Answers: {key, value, was}.
-- Refuses: actor_required, invalid_actor, tenant_forbidden, unknown_setting, invalid_setting.
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
    return writ_data.refused('fn_setting_set', p_actor, 'actor_required');
  elsif length(p_actor) > 200 then
    return writ_data.refused('fn_setting_set', p_actor, 'invalid_actor');
  elsif writ_data.caller_tenant() is not null then
    return writ_data.refused(
      'fn_setting_set', p_actor, 'tenant_forbidden', 'Settings hold for all tenants.'
    );
  end if;

  select * into v_setting from writ_data.dot_config where key = p_key for update;
  if not found then
    return writ_data.refused('fn_setting_set', p_actor, 'unknown_setting', left(p_key, 200));
  elsif jsonb_typeof(p_value) is distinct from jsonb_typeof(v_setting.value) then
    return writ_data.refused(
      'fn_setting_set', p_actor,
      'invalid_setting', format('%s is a %s.', p_key, jsonb_typeof(v_setting.value))
    );
  elsif jsonb_typeof(p_value) = 'number' and (
      p_value::numeric not between v_setting.minimum and v_setting.maximum
      or v_setting.whole and p_value::numeric % 1 <> 0) then
    return writ_data.refused(
      'fn_setting_set', p_actor,
      'invalid_setting',
      format('%s is a %s from %s to %s.',
        p_key,
        case when v_setting.whole then 'whole number' else 'number' end,
        v_setting.minimum,
        v_setting.maximum)
    );
  elsif jsonb_typeof(p_value) = 'array' and (
      jsonb_array_length(p_value) not between 1 and 20
      or exists (
        select from jsonb_array_elements(p_value) e
        where case jsonb_typeof(e)
          when 'number' then e::numeric not between v_setting.minimum and v_setting.maximum
            or v_setting.whole and e::numeric % 1 <> 0
          else true end)) then
    return writ_data.refused('fn_setting_set', p_actor, 'invalid_setting',
      format('%s is a list of 1 to 20 %s from %s to %s.',
        p_key,
        case when v_setting.whole then 'whole numbers' else 'numbers' end,
        v_setting.minimum,
        v_setting.maximum));
  elsif jsonb_typeof(p_value) = 'string'
      and not coalesce(p_value #>> '{}' = any (v_setting.choices), true) then
    return writ_data.refused('fn_setting_set', p_actor, 'invalid_setting',
      format('%s is one of %s.', p_key, array_to_string(v_setting.choices, ', ')));
  end if;

  update writ_data.dot_config
  set value = p_value, updated_at = v_now, updated_by = p_actor
  where key = p_key;
  perform writ_data.on_control_changed(
    null, 'setting', p_key, v_setting.value, p_value, p_actor, v_now);
  perform writ_data.record('fn_setting_set', p_actor, v_now, '{}', '{}', '{}', '{}',
    p_note => format('%s: %s → %s', p_key, v_setting.value, p_value));
  return jsonb_build_object('key', p_key, 'value', p_value, 'was', v_setting.value);
end $$;
