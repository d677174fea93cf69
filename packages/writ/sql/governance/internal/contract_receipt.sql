-- Writes a receipt in the stream of a contract that has not ended. The caller has locked its row.
create or replace function writ_data.contract_receipt(
  p_contract uuid,
  p_status text,
  p_reason text,
  p_context jsonb,
  p_at timestamptz
) returns void
language plpgsql
as $$
declare
  c record;
begin
  update writ_data.contract
  set receipts = receipts + 1
  where contract_id = p_contract
  returning tenant_id, receipts
  into c;

  perform writ_data.governance_receipt(
    c.tenant_id, concat('contract:', p_contract), c.receipts, p_status, p_reason,
    p_context || jsonb_build_object('contract_id', p_contract),
    p_at
  );
end $$;
