-- Fills in a template of a plan: replaces its references with their values in a run.
create or replace function writ_data.fill(
  p_template jsonb,
  p_run uuid,
  p_plan integer,
  p_input jsonb,
  p_item jsonb
) returns jsonb
language plpgsql stable
as $$
begin
  case jsonb_typeof(p_template)
    when 'object' then
      if p_template ? '$ref' and p_template - '$ref' = '{}' then
        return coalesce(
          writ_data.run_value(p_run, p_plan, p_input, p_item, p_template ->> '$ref'),
          'null'
        );
      end if;
      return (
        select coalesce(
          jsonb_object_agg(e.key, writ_data.fill(e.value, p_run, p_plan, p_input, p_item)),
          '{}'
        )
        from jsonb_each(p_template) e
      );
    when 'array' then
      return (
        select coalesce(
          jsonb_agg(writ_data.fill(e.value, p_run, p_plan, p_input, p_item) order by e.n),
          '[]'
        )
        from jsonb_array_elements(p_template) with ordinality e(value, n)
      );
    else
      return p_template;
  end case;
end $$;
