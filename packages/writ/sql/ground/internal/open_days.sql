-- Makes the partitions of yesterday, today and the next three days if today has none, because
-- nobody has turned the clockwork for queue.partition.days_ahead days. The clockwork then makes the
-- others.
-- Answers: whether today had none, and now has them. It cannot make them inside a statement that
--          uses one of the tables.
-- Locks:   the partitioned tables, against other changes of their partitions only. A session that
--          makes the same partitions waits for this transaction, ten seconds at most.
create or replace function writ_data.open_days() returns boolean
language plpgsql
set lock_timeout = '10s'
as $$
declare
  v_today date := (clock_timestamp() at time zone 'UTC')::date;  -- ids carry the real time
begin
  if writ_data.day_stands(v_today) then
    return false;
  end if;

  perform writ_data.make_partition(t, v_today + n)
  from unnest(writ_data.day_tables()) t
  cross join generate_series(-1, 3) n;
  return true;
exception when duplicate_table or unique_violation then
  return true;                      -- another session has made them
when object_in_use then
  return false;
end $$;
