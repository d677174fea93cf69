-- The position that position_text has written, or that is named: `beginning`. Readers outside take
-- whole batches, so it is at the end of one. Raises invalid_parameter_value for other texts.
create or replace function writ_data.position_of(p_text text)
returns writ_data.record_position
language plpgsql immutable
as $$
declare
  v_part text[] := regexp_match(
    p_text, '^(?:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/)?'
      '([0-9]{1,20})/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$'
  );
  v_nil constant uuid := '00000000-0000-0000-0000-000000000000'::uuid;
begin
  if p_text is null then
    return null;
  elsif p_text = 'beginning' then
    return row(v_nil, '0', v_nil)::writ_data.record_position;
  elsif v_part is null then
    raise exception using
      errcode = 'invalid_parameter_value', message = 'This is not a position of the record.';
  end if;
  return row(
    coalesce(v_part[1], v_nil::text)::uuid, v_part[2]::xid8,
    writ_data.fact_id(v_part[3]::uuid, 16777215)
  );
end $$;
