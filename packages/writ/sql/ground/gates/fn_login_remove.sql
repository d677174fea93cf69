-- Deletes the registration of a database login. A login without a registration is bound to nothing,
-- so revoke its roles of Writ first.
-- Callers: writ_admin
-- Answers: {login}.
-- Refuses: actor_required, invalid_actor, tenant_forbidden, login_not_found, login_in_use (it still
--          has a role of Writ).
-- Locks:   the row of the login.
create or replace function writ.fn_login_remove(p_login text, p_actor text) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  v_was writ_data.login;
begin
  if coalesce(btrim(p_actor), '') = '' then
    return writ_data.refusal('actor_required');
  elsif length(p_actor) > 200 then
    return writ_data.refusal('invalid_actor');
  elsif writ_data.caller_tenant() is not null then
    return writ_data.refusal('tenant_forbidden', 'Logins are registered for all tenants.');
  end if;

  select * into v_was from writ_data.login l where l.login = p_login for update;
  if not found then
    return writ_data.refusal('login_not_found', left(p_login, 200));
  elsif cardinality(writ_data.roles_of(p_login)) > 0 then
    return writ_data.refusal('login_in_use',
      format('%s still has %s.', p_login, array_to_string(writ_data.roles_of(p_login), ', ')));
  end if;

  delete from writ_data.login l where l.login = p_login;
  perform writ_data.on_control_changed(
    null, 'login', p_login, writ_data.login_document(v_was), null, p_actor, v_now);
  perform writ_data.record(
    'fn_login_remove', p_actor, v_now, '{}', '{}', '{}', '{}', p_note => p_login);
  return jsonb_build_object('login', p_login);
end $$;
