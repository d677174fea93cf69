-- Finds the first segment whose rows are all within the retention of the record.
-- Callers: writ_signer, readers
-- Answers: its number; null if there is none. Days before it have been dropped, and only archives
--          hold their sealed rows. The gate adds a day after the last dropped day, for rows that
--          were sealed late.
-- Locks:   none.
create or replace function writ.fn_ledger_first_segment() returns bigint
language sql security definer stable
set search_path = pg_catalog, pg_temp
begin atomic
  with oldest as (
    select min(to_date(right(c.relname, 8), 'YYYYMMDD'))::timestamp at time zone 'UTC' as day
    from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'writ_data.event_batch'::regclass
  )
  select min(s.segment)
  from writ_data.event_seal s
  cross join oldest
  where s.sealed_at >= oldest.day + case
    when (select f.sealed_at from writ_data.event_seal f where f.segment = 1) < oldest.day
      then interval '1 day'
    else interval '0'
  end;
end;
