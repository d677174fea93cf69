-- gate: workflow_admin
-- Keeps a signed checkpoint that has been published. Its tree must be one that the log has had: the signature is not looked at here, only by who verifies.
create or replace function writ.fn_ledger_checkpoint_record(p_log text, p_epoch integer, p_size bigint, p_root text, p_note text, p_actor text) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_epoch integer; v_no bigint;
begin
  if coalesce(btrim(p_actor), '') = '' then
    return writ_data.refusal('actor_required');
  end if;
  select epoch into v_epoch from writ_data.ledger_log where log_id = p_log;
  if v_epoch is distinct from p_epoch or encode(writ_data.root_at(p_log, p_size), 'hex') is distinct from p_root or octet_length(p_note) > 10000 then
    return writ_data.refusal('checkpoint_mismatch', p_log);
  end if;
  insert into writ_data.ledger_checkpoint (log_id, epoch, size, root, note, at) values (p_log, p_epoch, p_size, decode(p_root, 'hex'), p_note, writ.now())
  returning checkpoint_no into v_no;
  return jsonb_build_object('checkpoint_no', v_no);
end $$;
