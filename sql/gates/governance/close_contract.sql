-- internal
-- The end of an active contract: its holds are free again.
create or replace function writ_data.close_contract(p_contract uuid, p_to text, p_reason text, p_actor text, p_at timestamptz) returns void language plpgsql as $$
begin
  delete from writ_data.target_hold where contract_id = p_contract;
  update writ_data.contract set audit_verdict = case when p_to = 'COMPLETED' then 'PASS' else coalesce(nullif(audit_verdict, 'PENDING'), 'FAIL') end, audit_reason = coalesce(audit_reason, p_reason), audit_completed_at = p_at where contract_id = p_contract;
  perform writ_data.move_contract(p_contract, p_to, p_reason, p_actor, p_at);
end $$;
