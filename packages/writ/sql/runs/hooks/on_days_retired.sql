-- Drops the oldest day of runs that is past its retention. A day stays while one of its runs is
-- open or ended within the retention, and while a destination has not been told of its events.
-- Answers what it dropped, or null.
create or replace function writ_data.on_days_retired(p_at timestamptz) returns text
language plpgsql
as $$
declare
  v_kept_from timestamptz := p_at
    - (writ_data.setting('runs.retention_sec'))::double precision * interval '1 second';
  v_before date := least(
    (v_kept_from at time zone 'UTC')::date,
    (clock_timestamp() at time zone 'UTC')::date - 1);
  v_day date;
  v_lo uuid;        -- the ids of the day
  v_hi uuid;
  v_needed boolean;
  v_table text;
begin
  for v_day in
    select to_date(right(c.relname, 8), 'YYYYMMDD')
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'writ_data.run'::regclass
      and to_date(right(c.relname, 8), 'YYYYMMDD') < v_before
    order by 1
  loop
    v_lo := writ_data.day_floor(v_day);
    v_hi := writ_data.day_floor(v_day + 1);
    execute format('select exists (
      select from writ_data.%I
      where status not in (''COMPLETED'', ''FAILED'', ''CANCELLED'') or moved_at >= $1)',
      'run' || to_char(v_day, '_YYYYMMDD'))
    into v_needed using v_kept_from;
    continue when v_needed or writ_data.on_runs_retired(v_lo, v_hi);

    delete from writ_data.run_request where run_id >= v_lo and run_id < v_hi;
    foreach v_table in array
      array['run_snapshot', 'run_signal', 'run_delivery', 'run_item', 'run_event', 'run']
    loop
      execute format('drop table writ_data.%I', v_table || to_char(v_day, '_YYYYMMDD'));
    end loop;
    return 'run' || to_char(v_day, '_YYYYMMDD');
  end loop;
  return null;
exception when lock_not_available then
  return null;
end $$;
