-- True if the principal that a call authenticates belongs to another tenant than the named one.
create or replace function writ_data.on_caller_elsewhere(p_key text, p_tenant_id text)
returns boolean
language sql stable
begin atomic
  select exists (select from writ_data.principal_of(p_key) p where p.tenant_id <> p_tenant_id);
end;
