-- Where a reader of the record goes on from a position. All readers ask this: relays, streams,
-- consumers, the projector, the sealer. Between these bounds a reader takes batches in the order
-- (xid, batch_id), and misses none:
--   (xid, batch_id) > (start.xid, start.fact) and xid < horizon
--   and batch_id > start.era and batch_id <= until
-- Answers: start: the position, or the beginning of the next era if nothing is left in its own.
--          horizon: below it, every transaction has ended. until: the last id of the era. closed:
--          whether it is an earlier era. That one came with a dump, so all of it is committed,
--          whatever numbers its transactions have, and it has no horizon.
-- A transaction that commits late is delayed, and never skipped. Nothing is read twice: a batch is
-- in one era. A null position is the end of the record.
create or replace function writ_data.record_bounds(
  p_position writ_data.record_position,
  out start writ_data.record_position,
  out horizon xid8,
  out until uuid,
  out closed boolean
)
language plpgsql
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_era uuid;           -- the newest
  v_restored boolean;
  v_nil constant uuid := '00000000-0000-0000-0000-000000000000'::uuid;
begin
  horizon := pg_snapshot_xmin(pg_current_snapshot());
  select e.era, e.xmin <> e.written or e.tableoid <> e.table_id
  into v_era, v_restored
  from writ_data.record_era e
  order by e.era desc
  limit 1;
  if v_restored then
    perform writ_data.begin_era();
    select e.era into v_era from writ_data.record_era e order by e.era desc limit 1;
  end if;

  start := case
    when p_position is null then row(v_era, horizon, v_nil)::writ_data.record_position
    else p_position
  end;
  while (start).era < v_era loop
    select e.era into until
    from writ_data.record_era e
    where e.era > (start).era
    order by e.era
    limit 1;
    if exists (
      select from writ_data.event_batch b
      -- A consumer may have read a part of a batch.
      where (b.xid, b.batch_id) >= ((start).xid, case
          when right((start).fact::text, 6) = 'ffffff' then (start).fact
          else writ_data.batch_of((start).fact)
        end)
        and b.batch_id > (start).era and b.batch_id <= until
    ) then
      horizon := '18446744073709551615';
      closed := true;
      return;
    end if;
    start := row(until, '0', v_nil)::writ_data.record_position;
  end loop;
  until := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
  closed := false;
end $$;
