-- Reads a text that a caller gives as a moment.
-- Raises:  22008 for infinity, and for times beyond those that Writ keeps (within_times): programs
--          that read them back have no such dates. A gate refuses it with its other data errors.
create or replace function writ_data.moment(p_text text) returns timestamptz
language plpgsql stable strict
as $$
declare
  v_moment timestamptz := p_text::timestamptz;
begin
  if not writ_data.within_times(v_moment) then
    raise exception using errcode = 'datetime_field_overflow',
      message = format('%s is not a time in the years 2000 to 9999.', left(p_text, 100));
  end if;
  return v_moment;
end $$;
