-- Takes the turn of this name until the transaction ends, without waiting.
-- Answers: whether this transaction has it; false while another one does.
-- Raises:  an exception for a name that has no row, because no session could ever take that turn.
-- Locks:   the row of writ_data.turn. A login can lock it only through a gate.
create or replace function writ_data.take_turn(p_name text) returns boolean
language plpgsql
as $$
begin
  perform from writ_data.turn where name = p_name for update skip locked;
  if found then
    return true;
  end if;

  if not exists (select from writ_data.turn where name = p_name) then
    raise exception 'There is no turn named %.', p_name;
  end if;
  return false;
end $$;
