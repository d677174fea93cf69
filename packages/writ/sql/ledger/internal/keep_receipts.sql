-- Makes the months of receipts that are to come, and drops those that are past their retention and
-- archived. It waits for no lock longer than a tenth of a second: what cannot be had now is for the
-- next hour. Anything else that fails raises the alert RECEIPTS_NOT_KEPT and stops nothing.
create or replace function writ_data.keep_receipts(
  p_actor text,
  p_at timestamptz
) returns void
language plpgsql
set lock_timeout = '100ms'
as $$
declare
  v_today date := (clock_timestamp() at time zone 'UTC')::date;
  v_month date;
begin
  begin
    perform writ_data.make_receipt_partition((v_today + m * interval '1 month')::date)
    from generate_series(0, 2) m;
    -- The test clock may be elsewhere.
    perform writ_data.make_receipt_partition((p_at at time zone 'UTC')::date);
  exception
    when lock_not_available or duplicate_table or unique_violation then
      null; -- in an hour again: months are made two ahead
    when others then
      if writ_data.is_transient(sqlstate) then
        raise;
      end if;
      perform writ_data.raise_alert('RECEIPTS_NOT_KEPT', 'P1', null, 'ledger',
        jsonb_build_object('sqlstate', sqlstate, 'error', left(sqlerrm, 500)), p_actor, p_at);
  end;

  for v_month in
    select a.month from writ_data.receipt_archive a
    where (a.month + interval '1 month') at time zone 'UTC'
        < p_at - (writ_data.setting('ledger.retention.receipts_days'))::integer * interval '1 day'
      and to_regclass('writ_data.receipt' || to_char(a.month, '_YYYYMM')) is not null
    order by a.month
  loop
    begin
      execute format('drop table writ_data.%I', 'receipt' || to_char(v_month, '_YYYYMM'));
      perform writ_data.record('fn_ledger_tick', p_actor, p_at, '{}', '{}', '{}', '{}',
        p_note => format('dropped receipts of %s, which are archived',
          to_char(v_month, 'YYYY-MM')));
      return; -- one in a turn: its locks are held to the end of the transaction
    exception
      when lock_not_available then
        return;
      when others then
        if writ_data.is_transient(sqlstate) then
          raise;
        end if;
        perform writ_data.raise_alert('RECEIPTS_NOT_KEPT', 'P1', null,
          'receipts/' || to_char(v_month, 'YYYY-MM'),
          jsonb_build_object('sqlstate', sqlstate, 'error', left(sqlerrm, 500)), p_actor, p_at);
    end;
  end loop;
end $$;
