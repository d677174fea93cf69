-- Whether a value is the retry of a step: an object with attempts within bounds, or absent.
create or replace function writ_data.is_retry(
  p_value jsonb,
  p_most bigint
) returns boolean
language plpgsql immutable
as $$
begin
  return p_value is null
    or jsonb_typeof(p_value) = 'object'
      and p_value - 'attempts' = '{}'
      and writ_data.whole_within(p_value -> 'attempts', 1, p_most);
end $$;
