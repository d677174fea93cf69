-- The value at a path, as src/runs/conditions.ts follows one; null if nothing stands there. A list
-- is indexed by 0, 1, 2, … alone: `#>` would also take -1, 01 and +1.
create or replace function writ_data.value_at(
  p_value jsonb,
  p_path text[]
) returns jsonb
language plpgsql immutable
as $$
declare
  v_value jsonb := p_value;
  v_name text;
begin
  foreach v_name in array p_path loop
    v_value := case jsonb_typeof(v_value)
      when 'object' then v_value -> v_name
      when 'array' then
        case when v_name ~ '^(0|[1-9][0-9]{0,8})$' then v_value -> v_name::integer end
    end;
  end loop;
  return v_value;
end $$;
