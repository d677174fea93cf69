-- Returns a value that was read outside the database, if all of its numbers are exact.
-- Raises:  WR001 value_not_canonical.
create or replace function writ_data.exact(p_value jsonb, p_slot text) returns jsonb
language plpgsql immutable
as $$
declare
  v_wrong text := writ_data.inexact_number(p_value);
begin
  if v_wrong is not null then
    raise exception using errcode = 'WR001', message = 'value_not_canonical',
      detail = format('The value at %s, %s', left(p_slot, 200), v_wrong);
  end if;
  return p_value;
end $$;
