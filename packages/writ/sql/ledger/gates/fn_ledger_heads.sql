-- Lists the trees to sign. First seals and sequences. Then writes a receipt of the tree of every
-- grown log into _system, so that one signature over _system covers all logs.
-- Callers: writ_signer
-- Answers: [{log, epoch, size, root}], _system last. A crash afterwards leaves only true
--          receipts of trees. The gate omits a log whose root does not match its leaves, with the
--          alert LEDGER_LOG_DIFFERS. It lists a log that cannot grow with its present size.
-- Refuses: actor_required, tenant_forbidden.
-- Locks:   the ledger's clockwork.
create or replace function writ.fn_ledger_heads(p_actor text) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  v_heads jsonb := '[]'::jsonb;
  v_head jsonb;
  l record;
begin
  if coalesce(btrim(p_actor), '') = '' or length(p_actor) > 200 then
    return writ_data.refusal('actor_required');
  elsif writ_data.caller_tenant() is not null then
    return writ_data.refusal('tenant_forbidden', 'The ledger is signed for all tenants.');
  end if;

  perform from writ_data.ledger_clockwork for update;
  if (writ_data.setting('ledger.sealing.enabled'))::boolean and writ_data.seal_or_alert(
    (writ_data.setting('ledger.seal.rows'))::integer, p_actor, v_now) > 0 then
    update writ_data.ledger_clockwork set sealed_at = v_now;
  end if;
  while writ_data.sequence_receipts(20000, v_now, false) > 0 loop
  end loop;

  for l in
    select x.log_id, x.epoch, x.size, x.root
    from writ_data.ledger_log x
    where x.log_id <> '_system' and x.size > coalesce((
      select max(c.size) from writ_data.ledger_checkpoint c
      where c.log_id = x.log_id and c.epoch = x.epoch), 0)
    order by x.log_id
  loop
    if writ_data.root_at(l.log_id, l.size) is distinct from l.root then
      perform writ_data.raise_alert('LEDGER_LOG_DIFFERS', 'P1', l.log_id, 'log/' || l.log_id,
        jsonb_build_object('size', l.size), p_actor, v_now);
      continue;
    end if;
    v_head := jsonb_build_object('log', l.log_id, 'epoch', l.epoch, 'size', l.size,
      'root', encode(l.root, 'hex'));
    perform writ_data.system_receipt('log_checkpoint', 'checkpoint', v_head, v_now);
    v_heads := v_heads || v_head;
  end loop;
  while writ_data.sequence_receipts(20000, v_now, false) > 0 loop
  end loop;

  select * into l from writ_data.ledger_log x where x.log_id = '_system';
  if not found then
    return v_heads;
  elsif writ_data.root_at('_system', l.size) is distinct from l.root then
    perform writ_data.raise_alert('LEDGER_LOG_DIFFERS', 'P1', null, 'log/_system',
      jsonb_build_object('size', l.size), p_actor, v_now);
  else
    v_heads := v_heads || jsonb_build_object('log', l.log_id, 'epoch', l.epoch, 'size', l.size,
      'root', encode(l.root, 'hex'));
  end if;
  return v_heads;
end $$;
