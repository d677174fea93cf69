-- Moves one contract: see move_contracts.
create or replace function writ_data.move_contract(
  p_contract uuid,
  p_to text,
  p_reason text,
  p_actor text,
  p_at timestamptz
) returns void
language plpgsql
as $$
begin
  perform writ_data.move_contracts(array[p_contract], p_to, array[p_reason], p_actor, p_at);
end $$;
