-- Begins an era of the record if the database has been restored from a dump since the last one
-- began. A restored row of record_era shows it: another transaction wrote it, into another table.
-- pg_upgrade and physical copies keep both, and their server counts on.
--
-- The new era begins after the last restored batch. Those were written before the row of the era,
-- or in its transaction: pg_dump restores tables by size and name, and applications start later.
-- Ids follow the clock, so the clock of the new server must not be behind the old one.
create or replace function writ_data.begin_era() returns void
language plpgsql
as $$
declare
  v_last record;
  v_restored uuid;      -- the last batch that came with the dump
begin
  lock table writ_data.record_era in share row exclusive mode;
  select e.era, e.xmin as xmin, e.written, e.tableoid as tableoid, e.table_id into v_last
  from writ_data.record_era e
  order by e.era desc
  limit 1;
  if v_last.xmin = v_last.written and v_last.tableoid = v_last.table_id then
    return;     -- another session has just begun it
  end if;

  select b.batch_id into v_restored
  from writ_data.event_batch b
  where b.batch_id > v_last.era and age(b.xmin) >= age(v_last.xmin)
  order by b.batch_id desc
  limit 1;
  insert into writ_data.record_era (era, begun_at, written, table_id)
  values (
    -- Without a batch since the last era, positions may still have numbers of the old server.
    coalesce(v_restored, writ_data.fact_id(
      v_last.era, ('x' || right(v_last.era::text, 6))::bit(24)::integer + 1
    )),
    writ.now(), '0', 0
  );
  update writ_data.record_era e
  set written = e.xmin, table_id = e.tableoid
  where e.written = '0';
end $$;
