-- The position in front of everything that was recorded since a moment, also by transactions that
-- are still open. Numbers are given when a transaction first writes and not when it records, so it
-- may have a little more behind it than that. Ids count from 1970 on.
create or replace function writ_data.position_since(p_since timestamptz)
returns writ_data.record_position
language sql stable
as $$
  select row(e.era, case
      when e.until = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
        then least(x.first, pg_snapshot_xmin(pg_current_snapshot()))
      else coalesce(x.first, '18446744073709551615')
    end, '00000000-0000-0000-0000-000000000000')::writ_data.record_position
  from (
    select r.era, writ_data.era_end(r.era) as until
    from writ_data.record_era r
    where r.era = '00000000-0000-0000-0000-000000000000'
      or r.era < writ_data.uuid_floor(greatest(p_since, 'epoch'))
    order by r.era desc
    limit 1) e
  cross join lateral (
    select min(b.xid) as first
    from writ_data.event_batch b
    where b.batch_id >= writ_data.uuid_floor(greatest(p_since, 'epoch'))
      and b.batch_id > e.era and b.batch_id <= e.until) x
$$;
