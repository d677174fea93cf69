-- internal
-- A contract moves: its row, a row of its history, a receipt, and a fact in the record. The caller has locked it, and has set what else changes: where it has come to its end, nothing does any more.
create or replace function writ_data.move_contract(p_contract uuid, p_to text, p_reason text, p_actor text, p_at timestamptz) returns void language plpgsql as $$
declare
  v_from text; c record;
begin
  select status into v_from from writ_data.contract where contract_id = p_contract;
  update writ_data.contract set status = p_to, status_reason = p_reason, version = version + 1, receipts = receipts + 1, updated_at = p_at, due_at = case when p_to in ('ACTIVE', 'COMPLETED', 'FAILED', 'REJECTED', 'EXPIRED') then null else due_at end
  where contract_id = p_contract returning version, scope_hash, tenant_id, receipts into c;
  insert into writ_data.contract_history (contract_id, version, from_status, to_status, reason, by, at) values (p_contract, c.version, v_from, p_to, p_reason, p_actor, p_at);
  perform writ_data.governance_receipt(c.tenant_id, concat('contract:', p_contract), c.receipts, case when p_to in ('REJECTED', 'EXPIRED', 'FAILED') then 'refuse' else 'accept' end, 'contract_moved',
    jsonb_build_object('contract_id', p_contract, 'from', v_from, 'to', p_to, 'why', left(p_reason, 1000), 'by', p_actor, 'scope_hash', encode(c.scope_hash, 'hex')), p_at);
  perform writ_data.record('fn_contract_move', p_actor, p_at, array[p_contract], array['governance.contract_moved'], array[1], array[1], jsonb_build_object('from', v_from, 'to', p_to));
end $$;
