-- Tells followers of flags, when this transaction commits, that something has changed. Every login
-- can listen, so it does not say what, or whose: a follower asks fn_flags, which knows its tenant.
create or replace function writ_data.tell_flags() returns void
language sql
begin atomic
  select pg_notify('flags_changed', '');
end;
