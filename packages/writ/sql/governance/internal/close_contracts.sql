-- Ends active contracts and frees their holds. p_reasons has the reason of each.
create or replace function writ_data.close_contracts(
  p_contracts uuid[],
  p_to text,
  p_reasons text[],
  p_actor text,
  p_at timestamptz
) returns void
language plpgsql
as $$
begin
  delete from writ_data.target_hold where contract_id = any (p_contracts);
  perform writ_data.move_contracts(p_contracts, p_to, p_reasons, p_actor, p_at);
end $$;
