-- Voids all signatures of a contract that is not activated: those of this round never count again.
-- The caller has locked it.
create or replace function writ_data.begin_round(p_contract uuid) returns void
language sql
begin atomic
  update writ_data.contract
  set round = round + 1, approval_hash = null, pre_state = null
  where contract_id = p_contract;
end;
