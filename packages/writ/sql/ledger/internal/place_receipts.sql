-- Appends receipts to their logs: all at once and, if that raises, log by log. The receipts of a
-- log that cannot grow are set aside in writ_data.ledger_aside, with the alert LEDGER_LOG_STOPPED.
-- Later receipts of that log join them, which keeps their order. The other logs grow.
create or replace function writ_data.place_receipts(
  p_nos bigint[],
  p_logs text[],
  p_hashes bytea[],
  p_at timestamptz
) returns void
language plpgsql
as $$
declare
  v_log record;
begin
  if exists (select from writ_data.ledger_aside) then
    with given as materialized (
      select u.no, u.log, u.hash,
        exists (select from writ_data.ledger_aside a where a.log_id = u.log) as waits
      from unnest(p_nos, p_logs, p_hashes) u(no, log, hash)
    ), aside as (
      insert into writ_data.ledger_aside (log_id, receipt_no)
      select g.log, g.no from given g where g.waits
    )
    select array_agg(g.no), array_agg(g.log), array_agg(g.hash) into p_nos, p_logs, p_hashes
    from given g
    where not g.waits;
    if p_nos is null then
      return;
    end if;
  end if;

  begin
    perform writ_data.grow_logs(p_nos, p_logs, p_hashes, p_at);
    return;
  exception when others then
    if writ_data.is_transient(sqlstate) then
      raise;
    end if;
  end;

  for v_log in
    select u.log, array_agg(u.no) as nos, array_agg(u.log) as logs, array_agg(u.hash) as hashes
    from unnest(p_nos, p_logs, p_hashes) u(no, log, hash)
    group by u.log
    order by u.log
  loop
    begin
      perform writ_data.grow_logs(v_log.nos, v_log.logs, v_log.hashes, p_at);
    exception when others then
      if writ_data.is_transient(sqlstate) then
        raise;
      end if;
      insert into writ_data.ledger_aside (log_id, receipt_no)
      select v_log.log, no from unnest(v_log.nos) no;
      perform writ_data.raise_alert('LEDGER_LOG_STOPPED', 'P1', nullif(v_log.log, '_system'),
        'log/' || v_log.log, jsonb_build_object('sqlstate', sqlstate, 'error', left(sqlerrm, 500)),
        'ledger', p_at);
    end;
  end loop;
end $$;
