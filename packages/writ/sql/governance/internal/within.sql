-- Whether a value lies within bounds: {min, max} for numbers, or {in: [...]} for exactly these.
create or replace function writ_data.within(p_value jsonb, p_bounds jsonb) returns boolean
language sql immutable
return coalesce(
  case
    when p_bounds ? 'in'
      then exists (select from jsonb_array_elements(p_bounds -> 'in') e where e = p_value)
    when jsonb_typeof(p_value) = 'number'
      then p_value::numeric
        between (p_bounds -> 'min')::numeric and (p_bounds -> 'max')::numeric
  end,
  false
);
