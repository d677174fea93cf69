-- Whether the login behind this call has a role of Writ, itself or through a composite.
create or replace function writ_data.caller_has(p_role text) returns boolean
language sql stable
begin atomic
  select writ_data.has_role(to_regrole(quote_ident(session_user))::oid, p_role);
end;
