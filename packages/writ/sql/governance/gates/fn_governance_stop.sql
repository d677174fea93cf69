-- Stops the running jobs of contracts of a tenant. Each run gets an EMERGENCY_STOP, and a rollback
-- job undoes its effects. Jobs that have ended, or are ending, do not change.
-- Callers: writ_principal, writ_applier, writ_server
-- p_signal_id: identifies the stop, to make a repeated call safe.
-- Answers: [{contract_id, job_id, status, stopped}], without contracts that do not exist or have no
--          job. A contract that cannot be stopped also has {reason, detail}; the others stop.
-- Refuses: invalid_argument, AUTHZ_REASON_REQUIRED, and what may() refuses (right: activate).
-- Locks:   the contracts, then the governance jobs, in the order of their ids.
create or replace function writ.fn_governance_stop(
  p_key text,
  p_contract_ids uuid[],
  p_reason text,
  p_signal_id uuid,
  p_tenant_id text
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  m record;
  g record;
  v_said jsonb;
  v_answer jsonb := '[]'::jsonb;
begin
  m := writ_data.may(p_key, 'activate', p_tenant_id);
  if m.refusal is not null then
    return m.refusal;
  elsif coalesce(cardinality(p_contract_ids), 0) not between 1 and 1000 then
    return writ_data.refusal(
      'invalid_argument', 'One to a thousand contracts are stopped at once.'
    );
  elsif p_signal_id is null then
    return writ_data.refusal('invalid_argument', 'A stop has an id.');
  elsif btrim(coalesce(p_reason, '')) = '' then
    return writ_data.refusal('AUTHZ_REASON_REQUIRED', 'EMERGENCY_STOP needs a reason.');
  end if;

  perform from writ_data.contract c
  where c.contract_id = any (p_contract_ids) and c.tenant_id = p_tenant_id
  order by c.contract_id
  for no key update;
  for g in
    select y.job_id, y.contract_id, y.status, y.run_id
    from writ_data.governance_job y
    where y.contract_id = any (p_contract_ids) and y.tenant_id = p_tenant_id
      and y.kind = 'forward'
    order by y.job_id
    for no key update
  loop
    v_said := null;
    if g.status in ('PENDING', 'RUNNING') then
      begin
        v_said := writ.fn_run_signal(
          g.run_id,
          jsonb_build_object(
            'signalId', p_signal_id, 'type', 'EMERGENCY_STOP',
            'reason', left(btrim(p_reason), 1000)
          ),
          (m.who).principal_id, p_tenant_id
        );
      exception when others then
        if writ_data.is_transient(sqlstate) then
          raise;
        end if;
        v_said := writ_data.refusal('invalid_contract', left(sqlerrm, 1000));
      end;
      -- A run that has ended takes its job with it.
      if v_said ->> 'reason' = 'RUN_TERMINAL' then
        v_said := null;
      end if;
    end if;
    v_answer := v_answer || (
      jsonb_build_object(
        'contract_id', g.contract_id, 'job_id', g.job_id, 'status', g.status,
        'stopped', coalesce((v_said ->> 'accepted')::boolean, false)
      ) || case when v_said ? 'refused' then v_said - 'refused' else '{}' end
    );
  end loop;
  return v_answer;
end $$;
