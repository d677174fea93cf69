-- Registers a database login: the principal and tenant that it is bound to, and the roles that its
-- use needs. It grants no role; PostgreSQL's GRANT does.
-- Callers: writ_admin
-- Answers: {login, principal_id, tenant_id, roles}. p_definition has the last three. A login
--          of a principal with a tenant is bound to that tenant.
-- Refuses: actor_required, invalid_actor, tenant_forbidden, login_not_found, principal_not_found,
--          invalid_login.
-- Locks:   the row of the login.
create or replace function writ.fn_login_put(
  p_login text,
  p_definition jsonb,
  p_actor text
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  v_principal_id text;
  v_tenant_id text;                 -- of the principal
  v_was writ_data.login;
  v_login writ_data.login;
begin
  if coalesce(btrim(p_actor), '') = '' then
    return writ_data.refusal('actor_required');
  elsif length(p_actor) > 200 then
    return writ_data.refusal('invalid_actor');
  elsif writ_data.caller_tenant() is not null then
    return writ_data.refusal('tenant_forbidden', 'Logins are registered for all tenants.');
  elsif not exists (select from pg_roles r where r.rolname = p_login and r.rolcanlogin) then
    return writ_data.refusal('login_not_found', left(p_login, 200));
  elsif jsonb_typeof(p_definition) is distinct from 'object'
      or p_definition - '{principal_id,tenant_id,roles}'::text[] <> '{}' then
    return writ_data.refusal(
      'invalid_login', 'A definition has principal_id, tenant_id and roles.'
    );
  elsif length(p_definition ->> 'tenant_id') > 200 then
    return writ_data.refusal('invalid_login', 'A tenant has at most 200 characters.');
  end if;

  if p_definition ->> 'principal_id' is not null then
    select h.principal_id, h.tenant_id into v_principal_id, v_tenant_id
    from writ_data.on_login_put(p_definition ->> 'principal_id') h;
    if v_principal_id is null then
      return writ_data.refusal('principal_not_found', left(p_definition ->> 'principal_id', 200));
    elsif v_tenant_id <> p_definition ->> 'tenant_id' then
      return writ_data.refusal('invalid_login',
        format('%s belongs to the tenant %s.', v_principal_id, v_tenant_id));
    end if;
  end if;

  select * into v_was from writ_data.login l where l.login = p_login for update;
  insert into writ_data.login as l (login, principal_id, tenant_id, roles, put_by, put_at)
  values (
    p_login,
    v_principal_id,
    coalesce(p_definition ->> 'tenant_id', v_tenant_id),
    array(
      select distinct jsonb_array_elements_text(coalesce(p_definition -> 'roles', '[]')) order by 1
    ),
    p_actor,
    v_now)
  on conflict (login) do update set
    principal_id = excluded.principal_id,
    tenant_id = excluded.tenant_id,
    roles = excluded.roles,
    put_by = excluded.put_by,
    put_at = excluded.put_at
  returning * into v_login;

  perform writ_data.on_control_changed(
    null, 'login', p_login, writ_data.login_document(v_was), writ_data.login_document(v_login),
    p_actor, v_now);
  perform writ_data.record(
    'fn_login_put', p_actor, v_now, '{}', '{}', '{}', '{}', p_note => p_login);
  return writ_data.login_document(v_login) || jsonb_build_object('login', p_login);
exception when check_violation or not_null_violation or data_exception then
  return writ_data.refusal('invalid_login', left(sqlerrm, 500));
end $$;
