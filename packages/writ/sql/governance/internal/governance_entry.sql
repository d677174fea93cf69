-- A receipt of governance as the bytes that go into its log, at a place in a stream that the caller
-- has counted. It names the database login beside the acting principal. The keys of the document
-- are in canonical order already.
create or replace function writ_data.governance_entry(
  p_tenant text,
  p_stream text,
  p_seq bigint,
  p_status text,
  p_reason text,
  p_context jsonb,
  p_at timestamptz
) returns text
language plpgsql
as $$
begin
  return concat(
    '{"context":',
    writ_data.canonical(jsonb_strip_nulls(p_context) || jsonb_build_object(
      'login', session_user, 'stream', p_stream, 'stream_seq', p_seq
    )),
    ',"reason":"', p_reason, '","receipt_id":"', gen_random_uuid(),
    '","sku_id":"governance","status":"', p_status, '","tenant_id":', to_json(p_tenant),
    ',"timestamp":"', to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), '"}'
  );
end $$;
