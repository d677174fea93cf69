-- A relay has nothing to do, and wants to be woken. Said once a second, whoever says it.
create or replace function writ_data.relay_idle(p_at timestamptz) returns void language plpgsql as $$
begin
  update writ_data.outbox_clockwork set idle_until = p_at + interval '3 seconds' where one and idle_until < p_at + interval '2 seconds'
    and pg_try_advisory_xact_lock(hashtextextended('writ.relay_idle', 0));
end $$;
