-- What there is to sign. Every log that has grown since gets a receipt of its tree in _system, so that one signature over _system covers all of them; then _system
-- itself. Seals and sequences first. Answers [{log, epoch, size, root}], _system last. A crash after it leaves receipts of trees, which are true.
-- Callers: writ_signer
create or replace function writ.fn_ledger_heads(p_actor text) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := writ.now(); v_heads jsonb; h record;
begin
  if coalesce(btrim(p_actor), '') = '' or length(p_actor) > 200 then
    return writ_data.refusal('actor_required');
  elsif writ_data.caller_tenant() is not null then
    return writ_data.refusal('tenant_forbidden', 'The ledger is signed for all tenants.');
  end if;
  perform from writ_data.ledger_clockwork for update;
  if (writ_data.setting('ledger.sealing.enabled'))::boolean and writ_data.seal_events((writ_data.setting('ledger.seal.rows'))::integer, v_now) > 0 then
    update writ_data.ledger_clockwork set sealed_at = v_now;
  end if;
  while writ_data.sequence_receipts(20000, v_now, false) > 0 loop
  end loop;
  select jsonb_agg(jsonb_build_object('log', l.log_id, 'epoch', l.epoch, 'size', l.size, 'root', encode(l.root, 'hex')) order by l.log_id) into v_heads
  from writ_data.ledger_log l
  where l.log_id <> '_system' and l.size > coalesce((select max(c.size) from writ_data.ledger_checkpoint c where c.log_id = l.log_id and c.epoch = l.epoch), 0);
  for h in select x.value as head from jsonb_array_elements(coalesce(v_heads, '[]')) x
  loop
    perform writ_data.system_receipt('log_checkpoint', 'checkpoint', h.head, v_now);
  end loop;
  while writ_data.sequence_receipts(20000, v_now, false) > 0 loop
  end loop;
  return coalesce(v_heads, '[]') || coalesce((select jsonb_build_array(jsonb_build_object('log', l.log_id, 'epoch', l.epoch, 'size', l.size, 'root', encode(l.root, 'hex')))
    from writ_data.ledger_log l where l.log_id = '_system'), '[]');
end $$;
