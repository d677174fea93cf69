-- Returns a value of a template with its parameters in their places, at any depth. An inserted
-- value is not filled again.
create or replace function writ_data.fill_value(p_value jsonb, p_params jsonb) returns jsonb
language plpgsql immutable
as $$
begin
  if not jsonb_path_exists(p_value, 'lax $.**."$param"') then
    return p_value;
  elsif jsonb_typeof(p_value) = 'array' then
    return (
      select jsonb_agg(writ_data.fill_value(e.value, p_params) order by e.n)
      from jsonb_array_elements(p_value) with ordinality e(value, n)
    );
  elsif p_value - '$param' = '{}' then
    return p_params -> (p_value ->> '$param');
  end if;
  return (
    select jsonb_object_agg(e.key, writ_data.fill_value(e.value, p_params))
    from jsonb_each(p_value) e
  );
end $$;
