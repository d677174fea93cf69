-- The number in front of everything that was recorded since a moment, also by transactions that are
-- still open. Numbers are given when a transaction first writes and not when it records, so it may
-- have a little more behind it than that. Ids count from 1970 on.
create or replace function writ_data.outbox_since(p_since timestamptz) returns xid8
language sql stable
as $$
  select least(
    (select min(b.xid) from writ_data.event_batch b
      where b.batch_id >= writ_data.uuid_floor(greatest(p_since, 'epoch'))),
    pg_snapshot_xmin(pg_current_snapshot()))
$$;
