-- Drops the oldest day of runs that is past its retention, if all of them have ended and every destination has been told of them. Answers what it dropped, or null.
create or replace function writ_data.retire_runs(p_at timestamptz) returns text language plpgsql as $$
declare
  v_before date := least(((p_at - (writ_data.setting('runs.retention_sec'))::double precision * interval '1 second') at time zone 'UTC')::date, (clock_timestamp() at time zone 'UTC')::date - 1);
  v_day date; v_open boolean; v_table text;
begin
  for v_day in
    select to_date(right(c.relname, 8), 'YYYYMMDD') from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'writ_data.run'::regclass and to_date(right(c.relname, 8), 'YYYYMMDD') < v_before order by 1
  loop
    execute format('select exists (select from writ_data.%I where status not in (''COMPLETED'', ''FAILED'', ''CANCELLED''))', 'run' || to_char(v_day, '_YYYYMMDD')) into v_open;
    continue when v_open or exists (select from writ_data.undelivered u where u.dead_at is null and u.stream >= writ_data.day_floor(v_day) and u.stream < writ_data.day_floor(v_day + 1))
      or exists (select from writ_data.destination d join writ_data.event_batch b on (b.xid, b.batch_id) > (d.xid, d.batch_id) and b.run_ids is not null cross join lateral unnest(b.run_ids) r(id)
        where r.id >= writ_data.day_floor(v_day) and r.id < writ_data.day_floor(v_day + 1));
    delete from writ_data.run_request where run_id >= writ_data.day_floor(v_day) and run_id < writ_data.day_floor(v_day + 1);
    foreach v_table in array array['run_snapshot', 'run_signal', 'run_delivery', 'run_item', 'run_event', 'run'] loop
      execute format('drop table writ_data.%I', v_table || to_char(v_day, '_YYYYMMDD'));
    end loop;
    return 'run' || to_char(v_day, '_YYYYMMDD');
  end loop;
  return null;
exception when lock_not_available then
  return null;
end $$;
