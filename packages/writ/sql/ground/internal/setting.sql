-- Returns a setting, or null.
create or replace function writ_data.setting(p_key text) returns jsonb
language sql stable
return (select value from writ_data.dot_config where key = p_key);
