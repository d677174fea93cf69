-- Asks appliers to read the values outside the database that a contract changes. Previews,
-- approvals and activations use what they store (fn_contract_read_done).
-- Callers: writ_principal, writ_applier, writ_server
-- Answers: {contract_id, outside: [{slot, step_type, read_at, code, detail, job_id, requested_at,
--          due_at, open, applier}]}. job_id is the queue job that reads all places of a step type;
--          a type has one open job at most, and a request while it is open starts no other. due_at:
--          a read begins governance.read.interval_ms after the one before it. applier: whether a
--          worker with the step type runs.
-- Refuses: not_authenticated, contract_not_found, contract_terminal.
-- Locks:   the contract.
create or replace function writ.fn_contract_read_request(
  p_key text,
  p_contract_id uuid
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  v_who writ_data.principal;
  c writ_data.contract;
begin
  -- Whoever may preview a contract may ask.

  select * into v_who from writ_data.principal_of(p_key);
  if v_who.principal_id is null then
    return writ_data.refusal('not_authenticated');
  end if;
  select * into c
  from writ_data.contract
  where contract_id = p_contract_id and writ_data.visible(tenant_id)
    and tenant_id = coalesce(v_who.tenant_id, tenant_id)
  for no key update;
  if not found then
    return writ_data.refusal('contract_not_found', p_contract_id::text);
  elsif c.status in ('COMPLETED', 'FAILED', 'REJECTED', 'EXPIRED') then
    return writ_data.refusal('contract_terminal', format('It is %s.', c.status));
  end if;

  perform writ_data.request_reads(c, v_who.principal_id, v_now);
  return jsonb_build_object('contract_id', c.contract_id, 'outside', writ_data.reads_of(c));
end $$;
