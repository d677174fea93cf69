-- Called with every turn of the clockwork: reports a projector that lags.
create or replace function writ_data.on_upkeep(p_actor text, p_at timestamptz) returns void
language plpgsql
as $$
begin
  perform writ_data.watch_projector(p_actor, p_at);
exception when others then
  perform writ_data.set_aside('clockwork/projector', null, sqlstate, sqlerrm, p_actor, p_at);
end $$;
