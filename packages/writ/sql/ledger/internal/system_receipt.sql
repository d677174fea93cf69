-- Writes a receipt of the ledger itself, in the log _system. Skips a number that a planted receipt
-- has taken, with an alert, so that a planted receipt cannot stop sealing and signing.
create or replace function writ_data.system_receipt(
  p_reason text,
  p_stream text,
  p_context jsonb,
  p_at timestamptz
) returns bigint
language plpgsql
as $$
declare
  v_receipt jsonb := jsonb_build_object('receipt_id', gen_random_uuid(),
    'timestamp', to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'sku_id', 'writ', 'tenant_id', '_system', 'status', 'accept', 'reason', p_reason);
  v_seq bigint;
  v_no bigint;
begin
  for v_try in 1 .. 2 loop
    v_seq := writ_data.next_seq('_system', p_stream, 1);
    begin
      v_no := (writ_data.append_receipts(array[writ_data.canonical(v_receipt || jsonb_build_object(
        'context', p_context || jsonb_build_object('stream', p_stream, 'stream_seq', v_seq)))],
        p_at))[1];
      exit;
    exception when unique_violation then
      if v_try = 2 then
        raise;
      end if;
    end;
    update writ_data.receipt_stream s
    set last_seq = greatest(s.last_seq, (
      select max(r.stream_seq) from writ_data.receipt r
      where r.log_id = '_system' and r.stream = p_stream))
    where s.log_id = '_system' and s.stream = p_stream;
    perform writ_data.raise_alert('RECEIPT_PLANTED', 'P1', null, '_system/' || p_stream,
      jsonb_build_object('stream_seq', v_seq), 'ledger', p_at);
  end loop;
  return v_no;
end $$;
