-- Seals the next segment of the record; sealing that fails raises LEDGER_SEALING_STOPPED and stops
-- nothing else. Answers how many rows it sealed. The caller holds the clockwork.
create or replace function writ_data.seal_or_alert(
  p_rows integer,
  p_actor text,
  p_at timestamptz
) returns integer
language plpgsql
as $$
declare
  v_sealed integer;
begin
  v_sealed := writ_data.seal_events(p_rows, p_at);
  if v_sealed > 0 then
    perform writ_data.clear_alert('LEDGER_SEALING_STOPPED', 'ledger', p_actor, p_at);
  end if;
  return v_sealed;
exception when others then
  if writ_data.is_transient(sqlstate) then
    raise;
  end if;
  perform writ_data.raise_alert('LEDGER_SEALING_STOPPED', 'P1', null, 'ledger',
    jsonb_build_object('sqlstate', sqlstate, 'error', left(sqlerrm, 500)), p_actor, p_at);
  update writ_data.ledger_clockwork set sealed_at = p_at;  -- not again at once
  return 0;
end $$;
