-- An item of fn_signals_take, or an empty object in its place if the database cannot store it: it
-- is no object, has a NUL or half a character in it, or a number beyond all bounds.
create or replace function writ_data.storable_signal(p_item json) returns json
language plpgsql immutable
as $$
begin
  return case jsonb_typeof(p_item::jsonb) when 'object' then p_item else '{}' end;
exception when data_exception or program_limit_exceeded then
  return '{}'::json;
end $$;
