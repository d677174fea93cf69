-- internal
-- The end of active contracts: their holds are free again. p_reason is why, of all of them.
create or replace function writ_data.close_contracts(p_contracts uuid[], p_to text, p_reason text, p_actor text, p_at timestamptz) returns void language plpgsql as $$
begin
  delete from writ_data.target_hold where contract_id = any (p_contracts);
  update writ_data.contract set audit_verdict = case when p_to = 'COMPLETED' then 'PASS' else coalesce(nullif(audit_verdict, 'PENDING'), 'FAIL') end, audit_reason = coalesce(audit_reason, p_reason), audit_completed_at = p_at where contract_id = any (p_contracts);
  perform writ_data.move_contracts(p_contracts, p_to, array_fill(p_reason, array[cardinality(p_contracts)]), p_actor, p_at);
end $$;
