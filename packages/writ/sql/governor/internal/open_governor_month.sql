-- Makes the month of mailboxes and events that a moment falls into, if it has none: nobody has
-- driven governors for months, or the database's clock was moved far.
-- Callers: whatever inserts mail or events, before it does.
-- Locks:   their tables, against other changes of their partitions only. A session that makes the
--          same month waits for this transaction.
create or replace function writ_data.open_governor_month(p_at timestamptz) returns void
language plpgsql
as $$
declare
  v_month date := (p_at at time zone 'UTC')::date;
begin
  if to_regclass('writ_data.governor_event' || to_char(v_month, '_YYYYMM')) is not null then
    return;
  end if;
  perform writ_data.make_governor_partition(v_month);
exception when duplicate_table or unique_violation then
  null;                             -- another session has made it
end $$;
