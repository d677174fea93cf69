-- Returns a principal and every principal that it acts for, directly or through other agents.
create or replace function writ_data.behind(p_principal text) returns text[]
language sql stable
begin atomic
  with recursive chain as (
    select p_principal as principal_id
    union
    select p.on_behalf_of
    from chain c
    join writ_data.principal p on p.principal_id = c.principal_id
    where p.on_behalf_of is not null
  )
  select array_agg(c.principal_id) from chain c;
end;
