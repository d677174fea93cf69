-- Returns what is wrong with the parameters ({"$param": name}) in the steps of a contract, if
-- anything. Without bounds (p_bounds is null: it is no template) no parameter may be left over.
-- Otherwise each parameter has bounds, and stands in a new value or inside one, because filled()
-- looks nowhere else.
create or replace function writ_data.wrong_with_params(p_steps jsonb, p_bounds jsonb) returns text
language sql immutable
return case
  when not jsonb_path_exists(p_steps, 'lax $.**."$param"') then null
  when p_bounds is null
    then 'A parameter was never filled: only the steps of a template have parameters.'
  when exists (
    select from jsonb_array_elements(p_steps) s
    where jsonb_path_exists(
      s #- case
        when s -> 'parameters' ? 'new_value' then '{parameters,new_value}'::text[]
        else '{parameters,value}'::text[]
      end,
      'lax $.**."$param"'
    )
  ) then 'A parameter stands for a new value, or for a part of one, and for nothing else.'
  when exists (
    select from jsonb_path_query(p_steps, 'lax $.** ? (exists (@."$param"))') r
    where jsonb_typeof(r) = 'object'
      and (r - '$param' <> '{}' or jsonb_typeof(r -> '$param') <> 'string')
  ) then 'A parameter is {"$param": name}, and nothing else beside it.'
  when exists (
    select from jsonb_path_query(p_steps, 'lax $.**."$param"') r
    where not p_bounds ? (r #>> '{}')
  ) then 'A parameter has no bounds.'
  when jsonb_path_exists(p_steps, 'lax $.**{40 to last}."$param"')
    then 'A parameter lies too deep.'
end;
