-- The principal that a call authenticates by its key or its login; null if it is none.
create or replace function writ_data.on_caller_named(p_key text) returns text
language sql stable
begin atomic
  select p.principal_id from writ_data.principal_of(p_key) p;
end;
