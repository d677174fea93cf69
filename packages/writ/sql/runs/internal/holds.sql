-- Returns whether a condition of a plan holds in a run. An absent value is neither above nor below
-- anything.
create or replace function writ_data.holds(
  p_condition jsonb,
  p_run uuid,
  p_plan integer,
  p_input jsonb
) returns boolean
language plpgsql stable
as $$
declare
  v_value jsonb;
begin
  if p_condition is null then
    return true;
  elsif p_condition ? 'all' then
    return (
      select coalesce(bool_and(writ_data.holds(c, p_run, p_plan, p_input)), true)
      from jsonb_array_elements(p_condition -> 'all') c
    );
  elsif p_condition ? 'any' then
    return (
      select coalesce(bool_or(writ_data.holds(c, p_run, p_plan, p_input)), false)
      from jsonb_array_elements(p_condition -> 'any') c
    );
  elsif p_condition ? 'not' then
    return not writ_data.holds(p_condition -> 'not', p_run, p_plan, p_input);
  end if;

  v_value := coalesce(
    writ_data.run_value(p_run, p_plan, p_input, null, p_condition ->> 'ref'),
    'null'
  );
  return case
    when p_condition ? 'is' then v_value = p_condition -> 'is'
    when p_condition ? 'isNot' then v_value <> p_condition -> 'isNot'
    when p_condition ? 'exists' then (v_value <> 'null') = (p_condition ->> 'exists')::boolean
    when jsonb_typeof(v_value) <> 'number' then false
    when p_condition ? 'above' then v_value::numeric > (p_condition ->> 'above')::numeric
    when p_condition ? 'below' then v_value::numeric < (p_condition ->> 'below')::numeric
    else false
  end;
end $$;
