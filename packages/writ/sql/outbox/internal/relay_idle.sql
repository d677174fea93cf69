-- A relay has nothing to do, and wants to be woken. Said once a second, whoever says it.
create or replace function writ_data.relay_idle(p_at timestamptz) returns void
language plpgsql
as $$
begin
  -- A look first: most calls find that it has been said, and take no lock.
  if exists (
    select from writ_data.outbox_clockwork c
    where c.idle_until < p_at + interval '2 seconds') and writ_data.take_turn('relay_idle') then
    update writ_data.outbox_clockwork set idle_until = p_at + interval '3 seconds'
    where one and idle_until < p_at + interval '2 seconds';
  end if;
end $$;
