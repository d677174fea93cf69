-- Removes lanes that stay empty, in three turns: a lane found empty is marked, and whoever needs
-- one makes another; when the mark has been seen to stand, it gets the number of that transaction,
-- and every transaction that may not have seen the mark has a smaller one; when those have ended,
-- the lane goes, if it is still empty.
-- Locks:   the lanes, passing over what another session holds.
create or replace function writ_data.close_lanes() returns void
language plpgsql
as $$
declare
  v_lanes bigint[];
begin
  v_lanes := array(
    select l.lane_id from writ_data.lane l
    where l.closing > '0' and l.closing < pg_snapshot_xmin(pg_current_snapshot())
    limit 10000 for update skip locked
  );
  -- In a statement after the lock, which sees what a transaction that held it has added.
  delete from writ_data.lane l
  where l.lane_id = any (v_lanes) and not exists (
    select from writ_data.job_ready r where r.lane_id = l.lane_id and r.seq >= l.head
  );
  update writ_data.lane l
  set closing = pg_current_xact_id()
  where l.lane_id = any (array(
    select x.lane_id from writ_data.lane x
    where x.closing = '0'
    limit 10000 for update skip locked
  ));
  update writ_data.lane l
  set closing = '0'
  where l.lane_id = any (array(
    select x.lane_id from writ_data.lane x
    where x.closing is null and not exists (
      select from writ_data.job_ready r where r.lane_id = x.lane_id and r.seq >= x.head
    )
    limit 10000 for update skip locked
  ));
end $$;
