-- Tries the logs again whose receipts were set aside, each by itself: its oldest p_limit receipts,
-- in their order. When none of a log is left aside, its alert is over.
create or replace function writ_data.retry_aside(
  p_limit integer,
  p_at timestamptz
) returns void
language plpgsql
as $$
declare
  v_log text;
  v_nos bigint[];
  v_hashes bytea[];
begin
  for v_log in
    select distinct a.log_id from writ_data.ledger_aside a order by a.log_id
  loop
    select array_agg(x.receipt_no), array_agg(x.leaf_hash) into v_nos, v_hashes
    from (
      select r.receipt_no, r.leaf_hash
      from writ_data.ledger_aside a
      join writ_data.receipt r on r.receipt_no = a.receipt_no
      where a.log_id = v_log
      order by a.receipt_no
      limit p_limit) x;
    begin
      perform writ_data.grow_logs(v_nos, array_fill(v_log, array[cardinality(v_nos)]), v_hashes,
        p_at);
      delete from writ_data.ledger_aside a
      where a.log_id = v_log and a.receipt_no = any (v_nos);
      if not exists (select from writ_data.ledger_aside a where a.log_id = v_log) then
        perform writ_data.clear_alert('LEDGER_LOG_STOPPED', 'log/' || v_log, 'ledger', p_at);
      end if;
    exception when others then
      if writ_data.is_transient(sqlstate) then
        raise;
      end if;
    end;
  end loop;
end $$;
