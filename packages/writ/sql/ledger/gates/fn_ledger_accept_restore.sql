-- Accepts a restored database that is older than a published checkpoint. Every log gets a new
-- epoch. For each log, _system gets a receipt with the size that was found and the checkpoint that
-- it falls short of. The gate never uses a lost epoch again. The lost entries stay lost, and the
-- receipts prove that they existed.
-- Callers: writ_admin
-- p_signature: of a ledger key, over the statement that restoreText makes of the other arguments.
--          The receipts carry it; verifiers check it, PostgreSQL cannot.
-- p_epoch: the epoch of _system that begins. p_size, p_root: the tree of _system that was found.
-- Answers: {logs: [{log, epoch, size}]}.
-- Refuses: actor_required, tenant_forbidden, reason_required, invalid_argument (no signature),
--          checkpoint_mismatch (an epoch or a size that cannot be, another epoch than the next one,
--          or a tree that _system has not had).
-- Locks:   the ledger's clockwork.
create or replace function writ.fn_ledger_accept_restore(
  p_known_checkpoint text,
  p_known_epoch integer,
  p_known_size bigint,
  p_reason text,
  p_actor text,
  p_epoch integer,
  p_size bigint,
  p_root text,
  p_signature text
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  v_logs jsonb := '[]'::jsonb;
  l record;
begin
  if coalesce(btrim(p_actor), '') = '' or length(p_actor) > 200 then
    return writ_data.refusal('actor_required');
  elsif writ_data.caller_tenant() is not null then
    return writ_data.refusal('tenant_forbidden', 'The ledger is signed for all tenants.');
  elsif length(coalesce(btrim(p_reason), '')) < 10 then
    return writ_data.refusal('reason_required',
      'More than ten characters, for those who read it in a year.');
  elsif length(btrim(p_reason)) > 1000 or coalesce(p_signature, '') !~ '^[A-Za-z0-9+/]{86}==$' then
    return writ_data.refusal('invalid_argument',
      'A reason of at most 1000 characters, and the signature of a ledger key in base64.');
  elsif octet_length(p_known_checkpoint) > 10000 then
    return writ_data.refusal('checkpoint_mismatch', 'longer than a checkpoint');
  end if;
  -- A very large epoch would leave no numbers for later epochs.
  if p_known_epoch not between 1 and 1000 + (
      select coalesce(max(epoch), 1) from writ_data.ledger_log)
    or p_known_size not between 0 and 9007199254740991 then
    return writ_data.refusal('checkpoint_mismatch',
      'The epoch or the size that is known cannot be.');
  end if;

  perform from writ_data.ledger_clockwork for update;
  while writ_data.sequence_receipts(20000, v_now, false) > 0 loop
  end loop;
  insert into writ_data.ledger_log (log_id) values ('_system') on conflict do nothing;
  if encode(writ_data.root_at('_system', p_size), 'hex') is distinct from p_root
    or p_epoch is distinct from (
      select greatest(x.epoch, p_known_epoch) + 1
      from writ_data.ledger_log x where x.log_id = '_system') then
    return writ_data.refusal('checkpoint_mismatch',
      'The statement is of another tree or epoch of _system.');
  end if;
  insert into writ_data.ledger_restore (known_checkpoint, known_epoch, known_size, restored_size,
    accepted_at)
  values (p_known_checkpoint, p_known_epoch, p_known_size, p_size, v_now);

  for l in
    select log_id, greatest(epoch, p_known_epoch) as epoch, size, root, log_id = '_system' as own
    from writ_data.ledger_log
    order by log_id
  loop
    perform writ_data.system_receipt('epoch_opened', 'epoch', jsonb_build_object(
      'log', l.log_id, 'epoch', l.epoch + 1,
      'restored_size', case when l.own then p_size else l.size end,
      'restored_root', case when l.own then p_root else encode(l.root, 'hex') end,
      'known_checkpoint', case when l.own then p_known_checkpoint end,
      'reason', btrim(p_reason), 'actor', p_actor, 'signature', p_signature), v_now);
    update writ_data.ledger_log set epoch = l.epoch + 1 where log_id = l.log_id;
    v_logs := v_logs || jsonb_build_object('log', l.log_id, 'epoch', l.epoch + 1, 'size', l.size);
  end loop;
  while writ_data.sequence_receipts(20000, v_now, false) > 0 loop
  end loop;
  perform writ_data.record('fn_ledger_accept_restore', p_actor, v_now, '{}', '{}', '{}', '{}',
    p_note => btrim(p_reason));
  return jsonb_build_object('logs', v_logs);
end $$;
