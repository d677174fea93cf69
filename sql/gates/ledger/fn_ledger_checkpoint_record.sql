-- Keeps signed checkpoints that are about to be published: [{log, epoch, size, root, note}]. Each tree must be one that its log has had, or none is kept: signatures are
-- not looked at here, only by who verifies. What is kept already is not kept again. Answers how many are new.
-- Callers: writ_signer
create or replace function writ.fn_ledger_checkpoint_record(p_checkpoints jsonb, p_actor text) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_wrong text; v_n integer;
begin
  if coalesce(btrim(p_actor), '') = '' then
    return writ_data.refusal('actor_required');
  elsif writ_data.caller_tenant() is not null then
    return writ_data.refusal('tenant_forbidden', 'The ledger is signed for all tenants.');
  end if;
  select c.log into v_wrong
  from jsonb_to_recordset(p_checkpoints) c(log text, epoch integer, size bigint, root text, note text) left join writ_data.ledger_log l on l.log_id = c.log
  where l.epoch is distinct from c.epoch or encode(writ_data.root_at(c.log, c.size), 'hex') is distinct from c.root or coalesce(octet_length(c.note), 10001) > 10000 limit 1;
  if found then
    return writ_data.refusal('checkpoint_mismatch', v_wrong);
  end if;
  insert into writ_data.ledger_checkpoint (log_id, epoch, size, root, note, at)
  select c.log, c.epoch, c.size, decode(c.root, 'hex'), c.note, writ.now()
  from rows from (jsonb_to_recordset(p_checkpoints) as (log text, epoch integer, size bigint, root text, note text)) with ordinality c(log, epoch, size, root, note, n)
  where not exists (select from writ_data.ledger_checkpoint k where k.log_id = c.log and k.size = c.size and k.note = c.note)
  order by c.n;
  get diagnostics v_n = row_count;
  return jsonb_build_object('recorded', v_n);
end $$;
