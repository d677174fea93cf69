-- Returns whether one of these transactions, or any prepared for a two-phase commit, still holds
-- the lock of a writer of job_ready.
create or replace function writ_data.writes_ready(p_writers text[]) returns boolean
language plpgsql volatile
as $$
begin
  return exists (
    select from pg_locks
    where relation = 'writ_data.job_ready'::regclass
      and database = (select oid from pg_database where datname = current_database())
      and mode = 'RowExclusiveLock'
      and (virtualtransaction = any (p_writers) or pid is null)
  );
end $$;
