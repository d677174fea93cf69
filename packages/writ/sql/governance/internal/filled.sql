-- The steps of a template with its parameters in their places.
create or replace function writ_data.filled(p_steps jsonb, p_params jsonb) returns jsonb language sql immutable
begin atomic
  select jsonb_agg(case when s.step #>> '{parameters,new_value,$param}' is not null then jsonb_set(s.step, '{parameters,new_value}', p_params -> (s.step #>> '{parameters,new_value,$param}'))
    when s.step #>> '{parameters,value,$param}' is not null then jsonb_set(s.step, '{parameters,value}', p_params -> (s.step #>> '{parameters,value,$param}')) else s.step end order by s.n)
  from jsonb_array_elements(p_steps) with ordinality s(step, n);
end;
