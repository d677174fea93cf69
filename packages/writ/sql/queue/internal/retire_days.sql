-- Drops what is past its retention, by the day: of the record any day that everybody has read; of
-- jobs a day whose jobs have been cleaned; of deliveries any day; of runs a day on which all have
-- ended. The few jobs of a day that have not been cleaned, dead letters and jobs that still wait,
-- are carried over into a fresh partition of the same day; a day with more than five thousand of
-- them stays.
-- Answers: how many days it dropped. Call it until that is none.
-- Locks:   the tables of a day, for a tenth of a second at most. If a session uses one of them, a
--          dump for instance, the day stays for the next hour. One call drops one day of each,
--          because it holds its locks to the end of its transaction.
--
-- A day that cannot be dropped gets an alert, and the next day its turn.
create or replace function writ_data.retire_days(p_actor text, p_at timestamptz) returns integer
language plpgsql
set lock_timeout = '100ms'
as $$
declare
  v_newest date := (clock_timestamp() at time zone 'UTC')::date - 1;  -- ids of an hour ago may come
  v_table text;
  v_setting text;
  v_before date;
  v_days date[];
  v_day date;
  v_what text;
  v_dropped text[] := '{}'::text[];
begin
  for v_table, v_setting in values
    ('event_batch', 'queue.retention.record_sec'),
    ('job', 'queue.retention.finished_sec'),
    ('delivery', 'outbox.retention_sec')
  loop
    v_before := (
      p_at - interval '1 second' * (writ_data.setting(v_setting))::double precision
    ) at time zone 'UTC';
    -- Looked for first: a table cannot be dropped while a query reads it.
    v_days := array(
      select d.day
      from unnest(writ_data.days_of(v_table, least(v_before, v_newest))) d(day)
      where v_table <> 'event_batch' or not writ_data.record_is_needed(d.day)
      order by d.day
    );
    foreach v_day in array v_days loop
      begin
        v_what := writ_data.drop_day(v_table, v_day);
        if v_what is not null then
          v_dropped := v_dropped || v_what;
          exit;
        end if;
      exception when others then
        exit when not writ_data.set_aside(
          'clockwork/' || v_table || to_char(v_day, '_YYYYMMDD'), null, sqlstate, sqlerrm,
          p_actor, p_at
        );
      end;
    end loop;
  end loop;

  v_what := writ_data.on_days_retired(p_at);
  if v_what is not null then
    v_dropped := v_dropped || v_what;
  end if;
  if v_dropped <> '{}' then
    perform writ_data.record(
      'fn_job_tick', p_actor, p_at, '{}', '{}', '{}', '{}',
      p_note => left('dropped ' || array_to_string(v_dropped, ', '), 4000)
    );
  end if;
  return cardinality(v_dropped);
end $$;
