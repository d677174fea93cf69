-- Writes a receipt of governance at a place in a stream that the caller has counted. Answers its
-- number.
create or replace function writ_data.governance_receipt(
  p_tenant text,
  p_stream text,
  p_seq bigint,
  p_status text,
  p_reason text,
  p_context jsonb,
  p_at timestamptz
) returns bigint
language plpgsql
as $$
begin
  return (writ_data.append_receipts(
    array[writ_data.governance_entry(
      p_tenant, p_stream, p_seq, p_status, p_reason, p_context, p_at
    )],
    p_at
  ))[1];
end $$;
