-- What is seen to once a minute: pauses that do not drain are reported, lanes that stay empty go, partitions are made ahead, jobs past their retention are cleaned, days past it dropped.
create or replace function writ_data.upkeep(p_at timestamptz, p_actor text) returns void language plpgsql as $$
declare
  v_last timestamptz; v_retired timestamptz; v_lanes bigint[]; v_sweep boolean;
begin
  select upkeep_at, retired_at, sweep_on into v_last, v_retired, v_sweep from writ_data.clockwork;
  if v_sweep and (writ.fn_job_cleanup_sweep(5000, p_actor) ->> 'cleaned')::integer < 5000 then
    update writ_data.clockwork set sweep_on = false;
  end if;
  if p_at >= v_last and p_at < v_last + interval '1 minute' then
    return;
  end if;
  update writ_data.clockwork set upkeep_at = p_at;

  -- Three turns apart: a lane found empty is marked, and whoever needs one makes another; when the mark has been seen to stand, it is given the number of that
  -- transaction, and all who may not have seen it have a smaller one; when they have ended, it goes, if it is still empty.
  v_lanes := array(select l.lane_id from writ_data.lane l where l.closing > '0' and l.closing < pg_snapshot_xmin(pg_current_snapshot())
    limit 10000 for update skip locked);
  -- In a statement after the lock: what a transaction that held it has added is seen now.
  delete from writ_data.lane l where l.lane_id = any (v_lanes) and not exists (select from writ_data.job_ready r where r.lane_id = l.lane_id and r.seq >= l.head);
  update writ_data.lane l set closing = pg_current_xact_id() where l.lane_id = any (array(
    select x.lane_id from writ_data.lane x where x.closing = '0' limit 10000 for update skip locked));
  update writ_data.lane l set closing = '0' where l.lane_id = any (array(
    select x.lane_id from writ_data.lane x where x.closing is null and not exists (select from writ_data.job_ready r where r.lane_id = x.lane_id and r.seq >= x.head)
    limit 10000 for update skip locked));
  delete from writ_data.limit_meter where full_at < p_at - interval '1 hour';

  perform writ_data.watch_pauses(p_actor, p_at);
  perform writ_data.keep_partitions(p_actor, p_at);
  -- More than one sweep can take: the next turns of the clock go on with it, once a second.
  if (writ.fn_job_cleanup_sweep(10000, p_actor) ->> 'cleaned')::integer >= 10000 then
    update writ_data.clockwork set sweep_on = true;
  end if;
  -- A day in a minute while there are any to drop, and a look in an hour when there are none.
  if (p_at < v_retired or p_at >= v_retired + interval '1 hour') and writ_data.retire_days(p_actor, p_at) = 0 then
    update writ_data.clockwork set retired_at = p_at;
  end if;
end $$;
