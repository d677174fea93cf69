-- Whether a text can be stored as JSON.
create or replace function writ_data.is_json(p_text text) returns boolean
language plpgsql immutable
as $$
begin
  perform p_text::json;
  return true;
exception when data_exception or statement_too_complex then
  return false;
end $$;
