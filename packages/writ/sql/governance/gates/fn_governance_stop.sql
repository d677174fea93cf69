-- Stops what contracts of a tenant have begun: each run gets an EMERGENCY_STOP, and what it did is
-- rolled back. Jobs at rest, or on their way there, stay as they are.
-- Callers: writ_principal, writ_applier, writ_server
-- p_signal_id: of the stop, so that a call without an answer can be repeated.
-- Answers: [{contract_id, job_id, status, stopped}], without contracts that do not exist or have no
--          job.
-- Refuses: invalid_argument, what the run's signal refuses, and what may() refuses (right:
--          activate).
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
  v_answer jsonb := '[]';
begin
  m := writ_data.may(p_key, 'activate', p_tenant_id);
  if m.refusal is not null then
    return m.refusal;
  elsif coalesce(cardinality(p_contract_ids), 0) not between 1 and 1000 then
    return writ_data.refusal('invalid_argument', 'One to a thousand contracts are stopped at once.');
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
      v_said := writ.fn_run_signal(
        g.run_id,
        jsonb_build_object(
          'signalId', p_signal_id, 'type', 'EMERGENCY_STOP', 'reason', left(p_reason, 1000)
        ),
        (m.who).principal_id, p_tenant_id
      );
      -- A run that has ended takes its job with it.
      if (v_said ->> 'refused')::boolean and v_said ->> 'reason' <> 'RUN_TERMINAL' then
        return v_said;
      end if;
    end if;
    v_answer := v_answer || jsonb_build_object(
      'contract_id', g.contract_id, 'job_id', g.job_id, 'status', g.status,
      'stopped', coalesce((v_said ->> 'accepted')::boolean, false)
    );
  end loop;
  return v_answer;
end $$;
