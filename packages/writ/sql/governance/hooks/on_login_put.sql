-- The principal that a login is to be bound to, if it is there and not disabled; null otherwise.
create or replace function writ_data.on_login_put(
  p_principal_id text,
  out principal_id text,
  out tenant_id text
)
language sql stable
begin atomic
  select p.principal_id, p.tenant_id
  from writ_data.principal p
  where p.principal_id = p_principal_id and p.disabled_at is null;
end;
