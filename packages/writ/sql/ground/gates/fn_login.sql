-- Tells a caller who it is to Writ: the login, what it is bound to, and the roles that it has.
-- Callers: writ_principal, writ_signer, processes, readers
-- Answers: {login, principal_id, tenant_id, roles}; principal_id and tenant_id are null where the
--          login is bound to none. roles are the single ones; a composite counts as its parts.
create or replace function writ.fn_login() returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_login writ_data.login;
begin
  select * into v_login from writ_data.login l where l.login = session_user;

  return jsonb_build_object(
    'login', session_user,
    'principal_id', v_login.principal_id,
    'tenant_id', v_login.tenant_id,
    'roles', writ_data.roles_of(session_user));
end $$;
