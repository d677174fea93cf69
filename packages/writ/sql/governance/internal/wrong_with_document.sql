-- Compares a signed document with the one that rows make now (document_of). Returns null, or the
-- refusal, which names the fields that differ.
create or replace function writ_data.wrong_with_document(
  p_document text,
  p_now jsonb
) returns jsonb
language plpgsql immutable
as $$
declare
  v_document jsonb := p_document::jsonb;
begin
  return case
    when jsonb_typeof(v_document) <> 'object' then writ_data.refusal(
      'invalid_document', 'A document is an object.'
    )
    when v_document <> p_now then writ_data.refusal(
      'approval_void',
      'This is not what would be done now: look at the preview again. Different: ' || (
        select string_agg(coalesce(x.key, y.key), ', ' order by coalesce(x.key, y.key))
        from jsonb_each(v_document) x
        full join jsonb_each(p_now) y on y.key = x.key
        where x.value is distinct from y.value
      )
    )
  end;
exception when data_exception then
  return writ_data.refusal('invalid_document', 'It is not JSON.');
end $$;
