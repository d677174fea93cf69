-- The roles of Writ that a database login has; a composite counts as its parts. A member of the
-- owner of our schemas has all of them.
create or replace function writ_data.roles_of(p_login name) returns text[]
language sql stable
begin atomic
  select coalesce(array_agg(r.role order by r.role), '{}')
  from pg_roles l
  cross join unnest(writ_data.all_roles()) r(role)
  where l.rolname = p_login and writ_data.has_role(l.oid, r.role);
end;
