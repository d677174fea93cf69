-- Raises (25000) unless the transaction is READ COMMITTED. A gate that locks a row and then counts
-- or reads others relies on each of its statements seeing what was committed before it. A
-- REPEATABLE READ transaction sees the rows as they were when it began. So it would pass every
-- check that others have tightened since: a freeze, a limit, a signal, a disabled principal.
create or replace function writ_data.require_read_committed() returns void
language plpgsql stable
as $$
begin
  if current_setting('transaction_isolation') in ('repeatable read', 'serializable') then
    raise exception using
      errcode = '25000',
      message = format(
        'This call needs a READ COMMITTED transaction, and this one is %s.',
        upper(current_setting('transaction_isolation'))
      ),
      hint = 'Begin with BEGIN ISOLATION LEVEL READ COMMITTED, or without a level.';
  end if;
end $$;
