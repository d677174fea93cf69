-- What a login is registered for, as receipts and answers show it; null for no row.
create or replace function writ_data.login_document(p_login writ_data.login) returns jsonb
language sql immutable
return case when (p_login).login is not null then jsonb_build_object(
  'principal_id', (p_login).principal_id,
  'tenant_id', (p_login).tenant_id,
  'roles', (p_login).roles) end;
