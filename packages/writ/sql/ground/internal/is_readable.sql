-- Says whether values can be read from a JSON text. A NUL character and half of a surrogate pair
-- are valid JSON, but jsonb holds neither. Only an escape can stand for one, so any other text is
-- not parsed.
create or replace function writ_data.is_readable(p_json text) returns boolean
language sql immutable
return position(chr(92) || 'u' in p_json) = 0 or writ_data.as_jsonb(p_json::json) is not null;
