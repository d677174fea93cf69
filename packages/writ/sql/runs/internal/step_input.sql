-- Returns the input of a step's job as JSON text: what its template gives, or the element of the
-- list, or the input of the run.
create or replace function writ_data.step_input(
  p_template jsonb,
  p_run uuid,
  p_plan integer,
  p_input jsonb,
  p_item jsonb
) returns text
language sql stable
return case
  when p_template is not null
    then writ_data.filled_input(p_template, p_run, p_plan, p_input, p_item)
  when p_item is not null then p_item
  else p_input
end::text;
