-- Returns the only tenant that this call may touch; null: any. The login's row decides. The setting
-- writ.tenant only narrows: it guards against a forgotten condition, and never widens.
-- Raises:  42501 when the setting names another tenant than the login is bound to.
create or replace function writ_data.caller_tenant() returns text
language plpgsql stable
as $$
declare
  v_bound text;
  v_setting text := nullif(current_setting('writ.tenant', true), '');
begin
  select l.tenant_id into v_bound from writ_data.login l where l.login = session_user;

  if v_bound is not null and v_setting <> v_bound then
    raise exception using
      errcode = '42501',
      message = format('The login %s is bound to the tenant %s.', session_user, v_bound),
      hint = 'Set writ.tenant to that tenant, or leave it unset.';
  end if;
  return coalesce(v_bound, v_setting);
end $$;
