-- Returns which places that a contract changes are missing in a state (state_of), and why; null if
-- none is.
create or replace function writ_data.unread_slots(
  c writ_data.contract,
  p_state jsonb
) returns text
language sql stable
begin atomic
  select left(
    string_agg(
      concat(
        s.slot, ': ',
        coalesce(concat_ws(', ', v.code, v.detail), 'no applier has read it yet')
      ),
      '; ' order by s.slot
    ),
    4000
  )
  from (select distinct x.slot from writ_data.slots(c.steps) x) s
  left join writ_data.contract_value v
    on v.contract_id = coalesce(c.template_id, c.contract_id) and v.slot = s.slot
  where not p_state ? s.slot;
end;
