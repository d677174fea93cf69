-- Cancels a governance job that has not begun, and fails its contract. To stop a running job, call
-- fn_governance_stop, which also rolls it back.
-- Callers: writ_principal, writ_server
-- Answers: {job_id, status}.
-- Refuses: job_not_found, job_terminal, job_running, and what may() refuses (right: activate).
-- Locks:   the contract, then the governance job and its run.
create or replace function writ.fn_governance_cancel(
  p_key text,
  p_job_id uuid,
  p_reason text
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  v_reason text := coalesce(nullif(left(btrim(p_reason), 1000), ''), 'cancelled');
  v_tenant text;
  m record;
  v_who text;
  g writ_data.governance_job;
begin
  -- Lock, then check.

  select c.tenant_id into v_tenant
  from writ_data.contract c
  where c.contract_id = (
      select y.contract_id from writ_data.governance_job y where y.job_id = p_job_id
    )
    and writ_data.visible(c.tenant_id)
  for no key update;
  if v_tenant is null then
    return writ_data.refusal('job_not_found', p_job_id::text);
  end if;
  m := writ_data.may(p_key, 'activate', v_tenant);
  if m.refusal is not null then
    return m.refusal;
  end if;
  v_who := (m.who).principal_id;

  select * into g from writ_data.governance_job where job_id = p_job_id for no key update;
  if g.status in ('COMPLETED', 'CANCELLED', 'ROLLED_BACK', 'ROLLBACK_FAILED') then
    return writ_data.refusal('job_terminal', format('It is %s.', g.status));
  elsif g.status <> 'PENDING' or g.kind <> 'forward' then
    return writ_data.refusal('job_running',
      format('It is %s: only a job that has not begun is cancelled.', g.status));
  end if;

  -- End the job, its contract and its run.

  perform writ_data.move_governance_job(
    p_job_id, array['CANCELLED'], 'cancel', v_reason, v_who, v_now
  );
  perform writ_data.close_contracts(
    array[g.contract_id], 'FAILED', array['cancelled'], v_who, v_now
  );
  perform writ_data.lock_runs(array[g.run_id]);
  perform writ_data.begin_ending(
    g.run_id, 'CANCELLED', '{"reason": "The governance job was cancelled.", "undo": false}', null,
    v_who, v_now
  );
  return jsonb_build_object('job_id', p_job_id, 'status', 'CANCELLED');
end $$;
