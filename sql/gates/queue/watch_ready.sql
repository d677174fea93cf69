-- internal
-- Learns up to which number no transaction in flight can still add ready rows. A number is drawn by a statement that holds the lock of a writer of
-- job_ready until its transaction ends: so when all those that held it at a moment have ended, nothing at or below what had been drawn by then can
-- come any more. That works beside any old snapshot and any idle transaction, unless it has itself enqueued. One that is prepared for a commit in two phases
-- holds its locks under another name after a restart of the server: whoever it was, it is waited for.
create or replace function writ_data.watch_ready() returns void language plpgsql as $$
declare
  v_seen bigint; v_writers text[]; v_drawn bigint;
begin
  select ready_seen, ready_writers into v_seen, v_writers from writ_data.clockwork;
  select last_value into v_drawn from writ_data.job_ready_seq;
  if v_drawn = v_seen and v_seen = (select last_value from writ_data.job_ready_safe) then
    return;
  end if;
  if v_seen > 0 then
    if exists (select from pg_locks where relation = 'writ_data.job_ready'::regclass and database = (select oid from pg_database where datname = current_database())
        and mode = 'RowExclusiveLock' and (virtualtransaction = any (v_writers) or pid is null)) then
      return;
    end if;
    perform setval('writ_data.job_ready_safe', v_seen);
  end if;
  -- The number was read first, and then who may still be at it.
  update writ_data.clockwork set ready_seen = v_drawn, ready_writers = array(
    select distinct virtualtransaction from pg_locks where relation = 'writ_data.job_ready'::regclass and database = (select oid from pg_database where datname = current_database())
      and mode = 'RowExclusiveLock' and pid is distinct from pg_backend_pid());
end $$;
