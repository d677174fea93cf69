-- Whether a value is a condition of a plan: what writ_data.holds can evaluate without raising.
-- Conditions within it are at most p_depth deep.
create or replace function writ_data.is_condition(
  p_value jsonb,
  p_depth bigint
) returns boolean
language plpgsql immutable
as $$
declare
  v_keys text[];
begin
  if p_depth < 0 or jsonb_typeof(p_value) <> 'object' then
    return false;
  end if;

  v_keys := array(select k from jsonb_object_keys(p_value) k order by k);
  if v_keys = '{not}' then
    return writ_data.is_condition(p_value -> 'not', p_depth - 1);
  elsif v_keys in ('{all}', '{any}') then
    return jsonb_typeof(p_value -> v_keys[1]) = 'array'
      and p_value -> v_keys[1] <> '[]'
      and not exists (
        select from jsonb_array_elements(p_value -> v_keys[1]) c
        where not writ_data.is_condition(c, p_depth - 1));
  end if;

  return cardinality(v_keys) = 2
    and writ_data.is_reference(p_value -> 'ref')
    and case array_remove(v_keys, 'ref')
      when '{is}' then true
      when '{isNot}' then true
      when '{above}' then jsonb_typeof(p_value -> 'above') = 'number'
      when '{below}' then jsonb_typeof(p_value -> 'below') = 'number'
      when '{exists}' then jsonb_typeof(p_value -> 'exists') = 'boolean'
      else false
    end;
end $$;
