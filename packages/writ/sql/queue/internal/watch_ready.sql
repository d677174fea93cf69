-- Learns up to which number no transaction in flight can still add ready rows. A number is drawn by
-- a statement that holds the lock of a writer of job_ready until its transaction ends: so when all
-- those that held it at a moment have ended, nothing at or below what had been drawn by then can
-- come any more. They are given some milliseconds to end, which is as long as most take; those that
-- take longer are waited for from one call to the next. That works beside any old snapshot and any
-- idle transaction, unless it has itself enqueued. One that is prepared for a commit in two phases
-- holds its locks under another name after a restart of the server: whoever it was, it is waited
-- for.
create or replace function writ_data.watch_ready() returns void
language plpgsql
as $$
declare
  v_seen bigint;
  v_writers text[];
  v_drawn bigint;
  v_round integer := 0;
begin
  select ready_seen, ready_writers into v_seen, v_writers from writ_data.clockwork;
  select last_value into v_drawn from writ_data.job_ready_seq;
  if v_drawn = v_seen and v_seen = (select last_value from writ_data.job_ready_safe) then
    return;
  end if;
  if v_seen > 0 and v_seen <> (select last_value from writ_data.job_ready_safe) then
    if writ_data.writes_ready(v_writers) then
      return;
    end if;
    perform setval('writ_data.job_ready_safe', v_seen);
  end if;

  -- The number was read first, and then who may still be at it.
  v_writers := array(
    select distinct virtualtransaction
    from pg_locks
    where relation = 'writ_data.job_ready'::regclass
      and database = (select oid from pg_database where datname = current_database())
      and mode = 'RowExclusiveLock'
      and pid is distinct from pg_backend_pid()
  );

  while v_round < 4 and writ_data.writes_ready(v_writers) loop
    perform pg_sleep(0.002);
    v_round := v_round + 1;
  end loop;
  if v_round < 4 then
    perform setval('writ_data.job_ready_safe', v_drawn);
  end if;
  update writ_data.clockwork set ready_seen = v_drawn, ready_writers = v_writers;
end $$;
