-- Drops what is past its retention, by the day: of the record any day; of runs a day on which all have ended; of jobs a day whose jobs have been cleaned. The few that have not, dead letters and jobs that
-- still wait, are carried over into a fresh partition of the same day; a day with more than five thousand of them stays as it is.
-- A day that a consumer has not got past, because the queue refuses its jobs, stays too, and one that a destination has not been told of.
-- Nobody waits for it longer than a tenth of a second: a day whose tables are in use, by a dump for instance, is for the next hour, and one call drops one day of
-- each, because what it locks it holds to the end of its transaction. Answers how many were dropped: call it until that is none.
create or replace function writ_data.retire_days(p_actor text, p_at timestamptz) returns integer language plpgsql
  set lock_timeout = '100ms' as $$
declare
  v_record date := ((p_at - (writ_data.setting('queue.retention.record_sec'))::double precision * interval '1 second') at time zone 'UTC')::date;
  v_jobs date := ((p_at - (writ_data.setting('queue.retention.finished_sec'))::double precision * interval '1 second') at time zone 'UTC')::date;
  v_newest date := (clock_timestamp() at time zone 'UTC')::date - 1; -- ids of an hour ago may still come
  v_day date; v_days date[]; v_dropped text[] := '{}'; v_kept bigint; v_run text;
begin
  -- Looked for first: a table cannot be dropped while a question to it is open.
  v_days := array(
    select to_date(right(c.relname, 8), 'YYYYMMDD') from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'writ_data.event_batch'::regclass and to_date(right(c.relname, 8), 'YYYYMMDD') < least(v_record, v_newest)
      and not exists (select from writ_data.consumer_position p where p.refused is not null and p.event_id < writ_data.day_floor(to_date(right(c.relname, 8), 'YYYYMMDD') + 1))
      and not exists (select from writ_data.destination d where d.batch_id < writ_data.day_floor(to_date(right(c.relname, 8), 'YYYYMMDD') + 1)
        and exists (select from writ_data.event_batch b where (b.xid, b.batch_id) > (d.xid, d.batch_id) and b.batch_id < writ_data.day_floor(to_date(right(c.relname, 8), 'YYYYMMDD') + 1)))
      and not exists (select from writ_data.undelivered u where u.dead_at is null and u.event_id >= writ_data.day_floor(to_date(right(c.relname, 8), 'YYYYMMDD')) and u.event_id < writ_data.day_floor(to_date(right(c.relname, 8), 'YYYYMMDD') + 1))
    order by 1);
  foreach v_day in array v_days
  loop
    begin
      execute format('drop table writ_data.%I', 'event_batch' || to_char(v_day, '_YYYYMMDD'));
      v_dropped := v_dropped || ('event_batch' || to_char(v_day, '_YYYYMMDD'));
      exit;
    exception when lock_not_available then
      exit;
    end;
  end loop;
  for v_day in
    select to_date(right(c.relname, 8), 'YYYYMMDD') from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'writ_data.job'::regclass and to_date(right(c.relname, 8), 'YYYYMMDD') < least(v_jobs, v_newest) order by 1
  loop
    begin
      v_kept := writ_data.retire_day(v_day);
      if v_kept >= 0 then
        v_dropped := v_dropped || format('job%s (%s kept)', to_char(v_day, '_YYYYMMDD'), v_kept);
        exit;
      end if;
    exception when lock_not_available then
      exit;
    end;
  end loop;
  for v_day in
    select to_date(right(c.relname, 8), 'YYYYMMDD') from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'writ_data.delivery'::regclass
      and to_date(right(c.relname, 8), 'YYYYMMDD') < least(((p_at - (writ_data.setting('outbox.retention_sec'))::double precision * interval '1 second') at time zone 'UTC')::date, v_newest) order by 1
  loop
    begin
      execute format('drop table writ_data.%I', 'delivery' || to_char(v_day, '_YYYYMMDD'));
      v_dropped := v_dropped || ('delivery' || to_char(v_day, '_YYYYMMDD'));
      exit;
    exception when lock_not_available then
      exit;
    end;
  end loop;
  v_run := writ_data.retire_runs(p_at);
  if v_run is not null then
    v_dropped := v_dropped || v_run;
  end if;
  if v_dropped <> '{}' then
    perform writ_data.record('fn_job_tick', p_actor, p_at, '{}', '{}', '{}', '{}', p_note => left('dropped ' || array_to_string(v_dropped, ', '), 4000));
  end if;
  return cardinality(v_dropped);
end $$;
