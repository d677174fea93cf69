-- internal
-- A receipt of governance as the bytes that go into its log, at a place in a stream that the caller has counted.
create or replace function writ_data.governance_entry(p_tenant text, p_stream text, p_seq bigint, p_status text, p_reason text, p_context jsonb, p_at timestamptz) returns text language plpgsql as $$
begin
  return writ_data.canonical(jsonb_build_object('receipt_id', gen_random_uuid(), 'timestamp', to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'sku_id', 'governance', 'tenant_id', p_tenant,
    'status', p_status, 'reason', p_reason, 'context', jsonb_strip_nulls(p_context) || jsonb_build_object('stream', p_stream, 'stream_seq', p_seq)));
end $$;
