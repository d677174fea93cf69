-- Converts JSON to jsonb.
-- Answers: null if it holds what jsonb cannot: a NUL character, or half of a surrogate pair.
create or replace function writ_data.as_jsonb(p_json json) returns jsonb
language plpgsql immutable
as $$
begin
  return p_json::jsonb;
exception when data_exception then
  return null;
end $$;
