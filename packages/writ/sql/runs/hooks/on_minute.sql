-- Called once a minute: reports pauses that do not drain, and ends what an ending run has left
-- behind. The parts are independent: one that raises gets an alert and another try in a minute.
create or replace function writ_data.on_minute(p_actor text, p_at timestamptz) returns void
language plpgsql
as $$
begin
  begin
    perform writ_data.watch_pauses(p_actor, p_at);
  exception when others then
    perform writ_data.set_aside('clockwork/pauses', null, sqlstate, sqlerrm, p_actor, p_at);
  end;

  begin
    perform writ_data.watch_endings(p_actor, p_at);
  exception when others then
    perform writ_data.set_aside('clockwork/endings', null, sqlstate, sqlerrm, p_actor, p_at);
  end;
end $$;
