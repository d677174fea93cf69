-- Returns the steps of a template with its parameters in their places: the new value of a
-- configuration, or the value of a step type of an application, and anywhere inside these.
create or replace function writ_data.filled(p_steps jsonb, p_params jsonb) returns jsonb
language sql immutable
begin atomic
  select jsonb_agg(
    case
      when s.step #> array['parameters', p.place] is null then s.step
      else jsonb_set(
        s.step, array['parameters', p.place],
        writ_data.fill_value(s.step #> array['parameters', p.place], p_params)
      )
    end
    order by s.n
  )
  from jsonb_array_elements(p_steps) with ordinality s(step, n)
  cross join lateral (
    select case when s.step -> 'parameters' ? 'new_value' then 'new_value' else 'value' end as place
  ) p;
end;
