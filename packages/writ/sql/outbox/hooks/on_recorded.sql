-- Wakes a relay that has declared itself idle. NOTIFY takes a global lock at commit, so it is sent
-- only then, and no relay relies on it.
create or replace function writ_data.on_recorded(p_at timestamptz) returns void
language plpgsql
as $$
begin
  if exists (select from writ_data.outbox_clockwork c where c.idle_until > p_at) then
    notify outbox_wake;
  end if;
end $$;
