-- Moves contracts, all from the same state: their rows with what goes with it, a row of history, a
-- receipt each, and facts in the record. p_reasons has the reason of each; p_jobs the jobs that
-- they are active with. The caller has locked them and has already set what else changes, because a
-- contract that has ended no longer changes.
create or replace function writ_data.move_contracts(
  p_contracts uuid[],
  p_to text,
  p_reasons text[],
  p_actor text,
  p_at timestamptz,
  p_jobs uuid[] default null
) returns void
language plpgsql
as $$
declare
  v_from text;
  v_ends boolean;
  v_entries text[];
begin
  select min(c.status)
  into v_from
  from writ_data.contract c
  where c.contract_id = any (p_contracts);
  v_ends := v_from = 'ACTIVE' and p_to in ('COMPLETED', 'FAILED');
  with moved as (
    update writ_data.contract c
    set
      status = p_to,
      status_reason = u.reason,
      version = c.version + 1,
      receipts = c.receipts + 1,
      updated_at = greatest(c.updated_at, p_at),
      due_at = case
        when p_to in ('ACTIVE', 'COMPLETED', 'FAILED', 'REJECTED', 'EXPIRED') then null
        else c.due_at
      end,
      job_id = coalesce(u.job, c.job_id),
      audit_verdict = case
        when u.job is not null then 'PENDING'
        when v_ends
          then case
            when p_to = 'COMPLETED' then 'PASS'
            else coalesce(nullif(c.audit_verdict, 'PENDING'), 'FAIL')
          end
        else c.audit_verdict
      end,
      audit_reason = case
        when v_ends and p_to = 'COMPLETED' then left(u.reason, 1000)
        when v_ends then coalesce(c.audit_reason, left(u.reason, 1000))
        else c.audit_reason
      end,
      audit_completed_at = case
        when v_ends then greatest(c.updated_at, p_at)
        else c.audit_completed_at
      end
    from unnest(p_contracts, p_reasons, p_jobs) u(id, reason, job)
    where c.contract_id = u.id
    returning
      c.contract_id, c.version, c.scope_hash, c.tenant_id, c.receipts, c.updated_at as at, u.reason
  ), history as (
    insert into writ_data.contract_history (
      contract_id, version, from_status, to_status, reason, by, at
    )
    select m.contract_id, m.version, v_from, p_to, m.reason, p_actor, m.at
    from moved m
  )
  select array_agg(writ_data.governance_entry(
    m.tenant_id, concat('contract:', m.contract_id), m.receipts,
    case when p_to in ('REJECTED', 'EXPIRED', 'FAILED') then 'refuse' else 'accept' end,
    'contract_moved',
    jsonb_build_object(
      'contract_id', m.contract_id,
      'from', v_from,
      'to', p_to,
      'why', left(m.reason, 1000),
      'by', p_actor,
      'scope_hash', encode(m.scope_hash, 'hex')
    ),
    p_at
  ))
  into v_entries
  from moved m;

  perform writ_data.append_receipts(v_entries, p_at);
  perform writ_data.record(
    'fn_contract_move', p_actor, p_at, p_contracts, array['governance.contract_moved'], array[1],
    array[cardinality(p_contracts)], jsonb_build_object('from', v_from, 'to', p_to)
  );
end $$;
