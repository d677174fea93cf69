-- Returns the refusal of a state (state_of) that a signature of a contract cannot fix, or null:
-- what stands at a place outside the database was not read, or is not what a step expects.
create or replace function writ_data.wrong_with_state(
  c writ_data.contract,
  p_state jsonb
) returns jsonb
language plpgsql stable
as $$
declare
  v_missing text := writ_data.unread_slots(c, p_state);
  v_conflict text;
begin
  v_conflict := writ_data.old_value_conflict(c.tenant_id, c.steps);
  return case
    when v_missing is not null then writ_data.refusal('target_not_read', v_missing)
    when octet_length(p_state::text) > 1048576
      then writ_data.refusal('target_not_read', 'What was read has more than 1 MB.')
    when v_conflict is not null then writ_data.refusal('pre_value_conflict', v_conflict)
  end;
end $$;
