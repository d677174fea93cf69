-- Reads a text as a moment.
-- Answers: null if it is none, or beyond the times that Writ keeps.
create or replace function writ_data.as_moment(p_text text) returns timestamptz
language plpgsql stable
as $$
begin
  return writ_data.moment(p_text);
exception when data_exception then
  return null;
end $$;
