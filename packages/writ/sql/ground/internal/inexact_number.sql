-- Returns where a value has a number that RFC 8785 would print as another one, and that number;
-- null if it has none. Persons approve what is printed, so such a number would be shown and signed
-- as one value and written as another. Whole numbers are exact up to 2^53 - 1, fractions if they
-- are what the nearest double prints as.
create or replace function writ_data.inexact_number(p_value jsonb) returns text
language plpgsql immutable
set extra_float_digits = 1
as $$
declare
  v_wrong jsonb;
  v_place text;
begin
  select x.n
  into v_wrong
  from jsonb_path_query(p_value, 'strict $.** ? (@.type() == "number")') x(n)
  where case
    when x.n::numeric % 1 = 0 then abs(x.n::numeric) > 9007199254740991
    when abs(x.n::numeric) > 9007199254740991 or abs(x.n::numeric) < 5e-324 then true
    else (x.n::numeric)::float8::text::numeric <> x.n::numeric
  end
  limit 1;
  if v_wrong is null then
    return null;
  end if;

  with recursive part(path, value) as (
    select '', p_value
    union all
    select p.path || c.name, c.value
    from part p
    cross join lateral (
      select '/' || e.key, e.value
      from jsonb_each(case jsonb_typeof(p.value) when 'object' then p.value else '{}' end) e
      union all
      select '/' || (e.n - 1), e.value
      from jsonb_array_elements(case jsonb_typeof(p.value) when 'array' then p.value else '[]' end)
        with ordinality e(value, n)
    ) c(name, value)
  )
  select p.path into v_place from part p where p.value = v_wrong order by p.path limit 1;
  return format('%s: %s', left(v_place, 500), left(v_wrong::text, 100));
end $$;
