-- Returns a number among the fields of an object; null if there is none.
create or replace function writ_data.number_in(p_object jsonb, p_name text) returns numeric
language sql immutable
return case
  when jsonb_typeof(p_object -> p_name) = 'number' then (p_object ->> p_name)::numeric
end;
