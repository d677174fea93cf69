-- Makes the months of receipts that are to come, and drops those that are past their retention and archived. Nobody waits for it longer than a tenth of a second:
-- what cannot be had now is for the next hour.
create or replace function writ_data.keep_receipts(p_actor text, p_at timestamptz) returns void language plpgsql as $$
declare
  v_today date := (clock_timestamp() at time zone 'UTC')::date; v_month record;
begin
  perform set_config('lock_timeout', '100ms', true);
  begin
    perform writ_data.make_receipt_partition((v_today + m * interval '1 month')::date) from generate_series(0, 2) m;
    -- The test clock may be elsewhere.
    perform writ_data.make_receipt_partition((p_at at time zone 'UTC')::date);
    for v_month in
      select a.month from writ_data.receipt_archive a
      where (a.month + interval '1 month') at time zone 'UTC' < p_at - (writ_data.setting('ledger.retention.receipts_days'))::integer * interval '1 day'
        and to_regclass('writ_data.receipt' || to_char(a.month, '_YYYYMM')) is not null
      order by a.month limit 1
    loop
      execute format('drop table writ_data.%I', 'receipt' || to_char(v_month.month, '_YYYYMM'));
      perform writ_data.record('fn_ledger_tick', p_actor, p_at, '{}', '{}', '{}', '{}', p_note => format('dropped receipts of %s, which are archived', to_char(v_month.month, 'YYYY-MM')));
    end loop;
  exception when lock_not_available or duplicate_table or unique_violation then
    null; -- in an hour again: months are made two ahead
  end;
  perform set_config('lock_timeout', '0', true);
end $$;
