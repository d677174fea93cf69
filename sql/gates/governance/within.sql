-- Whether a value lies within bounds: {min, max}, or {in: [...]}.
create or replace function writ_data.within(p_value jsonb, p_bounds jsonb) returns boolean language sql immutable
  return coalesce(case when p_bounds ? 'in' then p_bounds -> 'in' @> jsonb_build_array(p_value) else jsonb_typeof(p_value) = 'number' and p_value::numeric between (p_bounds -> 'min')::numeric and (p_bounds -> 'max')::numeric end, false);
