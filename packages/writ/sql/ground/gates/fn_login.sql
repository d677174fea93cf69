-- Reads the caller's login, the principal and tenant that it is bound to, and its roles.
-- Callers: writ_principal, writ_signer, processes, readers
-- Answers: {login, principal_id, tenant_id, roles}; principal_id and tenant_id are null if the
--          login is not bound. roles lists single roles; a composite appears as its parts.
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
