-- Returns the RFC 8785 bytes of a value that the database itself writes into a receipt: texts,
-- whole numbers that JSON carries exactly, and names in ASCII. It raises on anything else.
create or replace function writ_data.canonical(p_value jsonb) returns text
language plpgsql immutable
as $$
declare
  v_text text;
  v_foreign boolean;
begin
  case jsonb_typeof(p_value)
    when 'object' then
      select
        string_agg(
          to_json(key)::text
            || ':'
            || case
              when jsonb_typeof(value) = 'string' or value::text ~ '^[0-9]{1,15}$' then value::text
              else writ_data.canonical(value)
            end,
          ',' order by key collate "C"
        ),
        bool_or(key !~ '^[ -~]*$')
      into v_text, v_foreign
      from jsonb_each(p_value);
      if v_foreign then
        raise exception using
          errcode = 'WR001',
          message = 'invalid_receipt',
          detail = 'A name that is not ASCII.';
      end if;
      return concat('{', v_text, '}');
    when 'array' then
      return '['
        || coalesce(
          (
            select string_agg(writ_data.canonical(e), ',' order by n)
            from jsonb_array_elements(p_value) with ordinality x(e, n)
          ),
          ''
        )
        || ']';
    when 'number' then
      if p_value::numeric % 1 <> 0 or abs(p_value::numeric) > 9007199254740991 then
        raise exception using
          errcode = 'WR001',
          message = 'invalid_receipt',
          detail = 'A number that is not whole, or that JSON cannot carry exactly.';
      end if;
      return trunc(p_value::numeric)::text;
    else
      return p_value::text;
  end case;
end $$;
