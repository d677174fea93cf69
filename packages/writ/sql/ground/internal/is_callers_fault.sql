-- Says whether an error may be the caller's fault. From deep inside functions of its own, a caller
-- can leave a gate as little of the stack as it likes (54001), and writ.tenant can name a tenant
-- that its login is not bound to (42501). Such an error moves no row of others. The row stays as it
-- is until an engine of all tenants meets it.
create or replace function writ_data.is_callers_fault(p_sqlstate text) returns boolean
language plpgsql stable
as $$
begin
  -- Not caller_tenant(): this runs in handlers of what it raises.
  return p_sqlstate in ('42501', '54001') and not (
    writ_data.caller_has('writ_engine')
    and coalesce(current_setting('writ.tenant', true), '') = ''
    and not exists (
      select from writ_data.login l where l.login = session_user and l.tenant_id is not null
    )
  );
end $$;
