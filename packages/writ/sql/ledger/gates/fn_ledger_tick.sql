-- Turns the ledger's clockwork. Seals the record once a second, or when a segment is full. Puts
-- newly committed receipts into their logs. Creates the partitions of coming months.
-- Callers: writ_engine
-- Answers: {sealed, sequenced, more}; more: a bound was reached, call again. {busy: true} while
--          another transaction does this. A failure of one part does not stop the others. It raises
--          the alert LEDGER_SEALING_STOPPED, LEDGER_LOG_STOPPED (one log cannot grow) or
--          RECEIPTS_NOT_KEPT (a month cannot be made or dropped).
-- Locks:   the ledger's clockwork, unless another transaction has it.
create or replace function writ.fn_ledger_tick(p_actor text) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  v_actor text := coalesce(nullif(left(p_actor, 200), ''), 'ledger');
  v_limit constant integer := 20000;
  v_fresh boolean := pg_current_xact_id_if_assigned() is null;
  v_at writ_data.ledger_clockwork;
  v_rows integer;
  v_sealed integer := 0;
  v_full boolean := false;
  v_sequenced integer;
begin
  select * into v_at from writ_data.ledger_clockwork for update skip locked;
  if not found then
    return jsonb_build_object('busy', true, 'sealed', 0, 'sequenced', 0, 'more', false);
  end if;

  if v_now < v_at.kept_at or v_now >= v_at.kept_at + interval '1 hour' then
    perform writ_data.keep_receipts(v_actor, v_now);
    update writ_data.ledger_clockwork set kept_at = v_now;
  end if;

  if (writ_data.setting('ledger.sealing.enabled'))::boolean
    and (v_now < v_at.sealed_at or v_now >= v_at.sealed_at + interval '900 milliseconds') then
    v_rows := (writ_data.setting('ledger.seal.rows'))::integer;
    v_sealed := writ_data.seal_or_alert(v_rows, v_actor, v_now);
    v_full := v_sealed = v_rows;
    -- A full segment is not the last of its second.
    update writ_data.ledger_clockwork
    set sealed_at = case when v_full then '-infinity' else v_now end
    where v_sealed > 0;
  end if;

  v_sequenced := writ_data.sequence_receipts(v_limit, v_now, v_fresh);
  return jsonb_build_object('sealed', v_sealed, 'sequenced', v_sequenced,
    'more', v_full or v_sequenced >= v_limit);
end $$;
