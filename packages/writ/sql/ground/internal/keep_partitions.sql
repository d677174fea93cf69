-- Makes the partitions of the coming days (queue.partition.days_ahead), and says so in the record when fewer than three days are left: without one for
-- its day no job can be enqueued. Ids carry the real time, whatever writ.now() says.
create or replace function writ_data.keep_partitions(p_actor text, p_at timestamptz) returns integer language plpgsql
  set lock_timeout = '200ms' as $$
declare
  v_today date := (clock_timestamp() at time zone 'UTC')::date;
  v_ahead integer := (writ_data.setting('queue.partition.days_ahead'))::integer;
  v_made integer := 0; v_days integer;
begin
  if exists (select from unnest('{job,job_execution,job_cleaned,event_batch,run,run_event,run_item,run_delivery,run_signal,run_snapshot,delivery}'::text[]) t
      where to_regclass(format('writ_data.%I', t || to_char(v_today + v_ahead, '_YYYYMMDD'))) is null) then
    begin
      select count(*) filter (where writ_data.make_partition(t, v_today + n)) into v_made
      from unnest('{job,job_execution,job_cleaned,event_batch,run,run_event,run_item,run_delivery,run_signal,run_snapshot,delivery}'::text[]) t cross join generate_series(0, v_ahead) n;
    exception when lock_not_available or duplicate_table or unique_violation then
      v_made := 0; -- in a minute again, unless another is making them now
    end;
  end if;
  select min(d.days) into v_days from unnest('{job,job_execution,job_cleaned,event_batch,run,run_event,run_item,run_delivery,run_signal,run_snapshot,delivery}'::text[]) t
  cross join lateral (select count(*) as days from generate_series(1, v_ahead) n
    where to_regclass(format('writ_data.%I', t || to_char(v_today + n, '_YYYYMMDD'))) is not null) d;
  if v_days < 3 then
    perform writ_data.record('fn_job_tick', p_actor, p_at, array['00000000-0000-0000-0000-000000000000'::uuid], array['system.partitions_low'], array[1], array[1],
      jsonb_build_object('days_ahead', v_days));
  end if;
  return v_made;
end $$;
