-- Whether a database login has a role of Writ, itself, through a composite, or as owner of our
-- schemas.
create or replace function writ_data.has_role(p_login oid, p_role text) returns boolean
language sql stable
begin atomic
  select coalesce(bool_or(pg_has_role(p_login, to_regrole(h.role)::oid, 'member')), false)
    or pg_has_role(
      p_login, (select n.nspowner from pg_namespace n where n.nspname = 'writ'), 'member'
    )
  from unnest(writ_data.role_holders(p_role)) h(role);
end;
