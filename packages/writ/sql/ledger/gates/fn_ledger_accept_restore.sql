-- Goes on with a database that is older than what is known outside, and says so: every log gets a new epoch, and _system a receipt of each that names how large it
-- was found and the checkpoint that it falls short of. An epoch that was lost with it is not used again. What is lost stays lost; nobody can say later that it never was.
-- Callers: writ_admin
create or replace function writ.fn_ledger_accept_restore(p_known_checkpoint text, p_known_epoch integer, p_known_size bigint, p_reason text, p_actor text) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := writ.now(); l record; v_logs jsonb := '[]';
begin
  if coalesce(btrim(p_actor), '') = '' or length(p_actor) > 200 then
    return writ_data.refusal('actor_required');
  elsif writ_data.caller_tenant() is not null then
    return writ_data.refusal('tenant_forbidden', 'The ledger is signed for all tenants.');
  elsif length(coalesce(btrim(p_reason), '')) < 10 then
    return writ_data.refusal('reason_required', 'More than ten characters, for those who read it in a year.');
  elsif octet_length(p_known_checkpoint) > 10000 then
    return writ_data.refusal('checkpoint_mismatch', 'longer than a checkpoint');
  end if;
  -- An epoch far ahead would leave no numbers for the next ones.
  if p_known_epoch not between 1 and 1000 + (select coalesce(max(epoch), 1) from writ_data.ledger_log) or p_known_size < 0 then
    return writ_data.refusal('checkpoint_mismatch', 'The epoch or the size that is known cannot be.');
  end if;
  perform from writ_data.ledger_clockwork for update;
  while writ_data.sequence_receipts(20000, v_now, false) > 0 loop
  end loop;
  insert into writ_data.ledger_log (log_id) values ('_system') on conflict do nothing;
  insert into writ_data.ledger_restore (known_checkpoint, known_epoch, known_size, restored_size, accepted_at)
  select p_known_checkpoint, p_known_epoch, p_known_size, size, v_now from writ_data.ledger_log where log_id = '_system';
  for l in select log_id, greatest(epoch, p_known_epoch) as epoch, size, root from writ_data.ledger_log order by log_id
  loop
    perform writ_data.system_receipt('epoch_opened', 'epoch', jsonb_build_object('log', l.log_id, 'epoch', l.epoch + 1, 'restored_size', l.size, 'restored_root', encode(l.root, 'hex'),
      'known_checkpoint', case when l.log_id = '_system' then p_known_checkpoint end, 'reason', left(btrim(p_reason), 1000), 'actor', p_actor), v_now);
    update writ_data.ledger_log set epoch = l.epoch + 1 where log_id = l.log_id;
    v_logs := v_logs || jsonb_build_object('log', l.log_id, 'epoch', l.epoch + 1, 'size', l.size);
  end loop;
  while writ_data.sequence_receipts(20000, v_now, false) > 0 loop
  end loop;
  return jsonb_build_object('logs', v_logs);
end $$;
