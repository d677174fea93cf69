-- internal
-- A receipt of governance, at a place in a stream that the caller has counted. Answers its number.
create or replace function writ_data.governance_receipt(p_tenant text, p_stream text, p_seq bigint, p_status text, p_reason text, p_context jsonb, p_at timestamptz) returns bigint language plpgsql as $$
begin
  return (writ_data.append_receipts(array[writ_data.canonical(jsonb_build_object('receipt_id', gen_random_uuid(), 'timestamp', to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'sku_id', 'governance', 'tenant_id', p_tenant,
    'status', p_status, 'reason', p_reason, 'context', jsonb_strip_nulls(p_context) || jsonb_build_object('stream', p_stream, 'stream_seq', p_seq)))], p_at))[1];
end $$;
