-- Whether a value is the text of a reference of a plan, such as input.id or steps.pay.output.
create or replace function writ_data.is_reference(p_value jsonb) returns boolean
language plpgsql immutable
as $$
begin
  return jsonb_typeof(p_value) is not distinct from 'string'
    and length(p_value #>> '{}') <= writ_data.plan_limit('refLength')
    and p_value #>> '{}' ~ '^(run[.]id|(input|item|steps[.].+[.]output)([.][^.]+)*)$';
end $$;
