-- A text as a moment; null if it is none. PostgreSQL 15 cannot ask beforehand.
create or replace function writ_data.as_moment(p_text text) returns timestamptz
language plpgsql stable
as $$
begin
  return p_text::timestamptz;
exception when data_exception then
  return null;
end $$;
