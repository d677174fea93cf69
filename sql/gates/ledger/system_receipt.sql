-- A receipt of the ledger itself, in the log _system.
create or replace function writ_data.system_receipt(p_reason text, p_stream text, p_context jsonb, p_at timestamptz) returns bigint language plpgsql as $$
begin
  return (writ_data.append_receipts(array[writ_data.canonical(jsonb_build_object(
    'receipt_id', gen_random_uuid(), 'timestamp', to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'sku_id', 'writ', 'tenant_id', '_system',
    'status', 'accept', 'reason', p_reason,
    'context', p_context || jsonb_build_object('stream', p_stream, 'stream_seq', writ_data.next_seq('_system', p_stream, 1))))], p_at))[1];
end $$;
