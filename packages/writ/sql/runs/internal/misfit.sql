-- Where a value does not fit a schema, in words; null if it fits. The schema is the part of JSON
-- Schema that src/runs/plans/payload-schema.ts puts into a plan. Other keywords, and keywords with
-- a value of another type than theirs, say nothing.
create or replace function writ_data.misfit(
  p_value jsonb,
  p_schema jsonb,
  p_path text default 'the payload'
) returns text
language plpgsql immutable
as $$
declare
  v_type text := jsonb_typeof(p_value);
  v_types jsonb := case jsonb_typeof(p_schema -> 'type')
    when 'string' then jsonb_build_array(p_schema -> 'type')
    when 'array' then p_schema -> 'type'
  end;
  v_number numeric := case when v_type = 'number' then (p_value #>> '{}')::numeric end;
  v_size integer := case v_type
    when 'string' then length(p_value #>> '{}')
    when 'array' then jsonb_array_length(p_value)
  end;
  v_wrong text;
  e record;
begin
  if jsonb_typeof(p_schema) is distinct from 'object' then
    return null;
  elsif v_types is not null and not (v_types ? v_type
    or v_types ? 'integer' and v_number = trunc(v_number)) then
    return format('%s is not of type %s', p_path, left(v_types::text, 100));
  elsif p_schema ? 'const' and p_value <> p_schema -> 'const'
    or jsonb_typeof(p_schema -> 'enum') = 'array' and not exists (
      select from jsonb_array_elements(p_schema -> 'enum') x(value) where x.value = p_value) then
    return format('%s is none of the values allowed', p_path);
  end if;

  if v_type = 'number' then
    if v_number < writ_data.number_in(p_schema, 'minimum')
      or v_number > writ_data.number_in(p_schema, 'maximum')
      or v_number <= writ_data.number_in(p_schema, 'exclusiveMinimum')
      or v_number >= writ_data.number_in(p_schema, 'exclusiveMaximum') then
      return format('%s is out of range', p_path);
    end if;
  elsif v_type = 'string' then
    -- Libraries count characters, or UTF-16 units: two for a character beyond U+FFFF. A text fits
    -- if either count does, so that the gate refuses nothing that the schema takes.
    if v_size + (
        case when octet_length(p_value #>> '{}') > v_size
          then regexp_count(p_value #>> '{}', e'[\U00010000-\U0010FFFF]')
          else 0
        end
      ) < writ_data.number_in(p_schema, 'minLength')
      or v_size > writ_data.number_in(p_schema, 'maxLength') then
      return format('%s is too short or too long', p_path);
    end if;
  elsif v_type = 'array' then
    if v_size < writ_data.number_in(p_schema, 'minItems')
      or v_size > writ_data.number_in(p_schema, 'maxItems') then
      return format('%s has too few or too many elements', p_path);
    end if;
    if p_schema ? 'items' then
      for e in
        select x.value, x.n from jsonb_array_elements(p_value) with ordinality x(value, n)
      loop
        v_wrong := writ_data.misfit(e.value, p_schema -> 'items',
          format('%s.%s', p_path, e.n - 1));
        exit when v_wrong is not null;
      end loop;
    end if;
  elsif v_type = 'object' then
    if jsonb_typeof(p_schema -> 'required') = 'array' then
      select format('%s.%s is missing', p_path, left(x.name, 100)) into v_wrong
      from jsonb_array_elements_text(p_schema -> 'required') x(name)
      where not p_value ? x.name
      limit 1;
    end if;
    for e in
      select x.key, x.value from jsonb_each(p_value) x
      where v_wrong is null
    loop
      if jsonb_typeof(p_schema -> 'properties') = 'object' and p_schema -> 'properties' ? e.key then
        v_wrong := writ_data.misfit(e.value, p_schema -> 'properties' -> e.key,
          format('%s.%s', p_path, left(e.key, 100)));
      elsif p_schema -> 'additionalProperties' = 'false' then
        v_wrong := format('%s.%s is not a field', p_path, left(e.key, 100));
      else
        v_wrong := writ_data.misfit(e.value, p_schema -> 'additionalProperties',
          format('%s.%s', p_path, left(e.key, 100)));
      end if;
      exit when v_wrong is not null;
    end loop;
  end if;
  if v_wrong is not null then
    return v_wrong;
  end if;

  if jsonb_typeof(p_schema -> 'allOf') = 'array' then
    for e in select x.value from jsonb_array_elements(p_schema -> 'allOf') x(value) loop
      v_wrong := writ_data.misfit(p_value, e.value, p_path);
      if v_wrong is not null then
        return v_wrong;
      end if;
    end loop;
  end if;
  if jsonb_typeof(p_schema -> 'anyOf') = 'array' then
    for e in select x.value from jsonb_array_elements(p_schema -> 'anyOf') x(value) loop
      v_wrong := writ_data.misfit(p_value, e.value, p_path);
      exit when v_wrong is null;
    end loop;
  end if;
  return v_wrong;
end $$;
