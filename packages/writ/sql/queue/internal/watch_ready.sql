-- Learns below which number no open transaction can still add ready rows. A statement that draws a
-- number holds the lock of a writer of job_ready until its transaction ends. So when all
-- transactions that held it at a moment have ended, nothing at or below the numbers drawn by then
-- can come any more. It waits some milliseconds for them, which is as long as most take, and
-- carries the others over to the next call. Old snapshots and idle transactions do not matter,
-- unless they have themselves enqueued. A transaction prepared for a two-phase commit holds its
-- locks under another name after a restart of the server, so all prepared transactions count.
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

  -- The number is read before the transactions that may still be at it.
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
