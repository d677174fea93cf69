-- The ledger's clockwork, in one call that every worker makes and that one of them does at a time: once a second, or when a segment is full, the record is sealed;
-- receipts that have been committed since are put into their logs; months of receipts are made ahead. Answers {sealed, sequenced, more}; `more`: a bound was reached, call again.
-- Callers: writ_engine
create or replace function writ.fn_ledger_tick(p_actor text) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := writ.now(); c writ_data.ledger_clockwork; v_rows integer; v_sealed integer := 0; v_full boolean := false; v_fresh boolean := pg_current_xact_id_if_assigned() is null; v_sequenced integer; v_limit constant integer := 20000;
begin
  select * into c from writ_data.ledger_clockwork for update skip locked;
  if not found then
    return jsonb_build_object('busy', true, 'sealed', 0, 'sequenced', 0, 'more', false);
  end if;
  if v_now < c.kept_at or v_now >= c.kept_at + interval '1 hour' then
    perform writ_data.keep_receipts(p_actor, v_now);
    update writ_data.ledger_clockwork set kept_at = v_now;
  end if;
  if (writ_data.setting('ledger.sealing.enabled'))::boolean and (v_now < c.sealed_at or v_now >= c.sealed_at + interval '900 milliseconds') then
    v_rows := (writ_data.setting('ledger.seal.rows'))::integer;
    v_sealed := writ_data.seal_events(v_rows, v_now);
    v_full := v_sealed = v_rows;
    -- A full segment is not the last of its second.
    update writ_data.ledger_clockwork set sealed_at = case when v_full then '-infinity' else v_now end where v_sealed > 0;
  end if;
  v_sequenced := writ_data.sequence_receipts(v_limit, v_now, v_fresh);
  return jsonb_build_object('sealed', v_sealed, 'sequenced', v_sequenced, 'more', v_full or v_sequenced >= v_limit);
end $$;
