-- Cancels a governance job that has not begun; its contract has failed then. One that runs cannot be cancelled: stop its run (EMERGENCY_STOP), and it is rolled back. Answers {job_id, status}.
-- Callers: writ_principal, writ_server
create or replace function writ.fn_governance_cancel(p_key text, p_job_id uuid, p_reason text) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := writ.now(); g writ_data.governance_job; m record; v_tenant text;
begin
  select c.tenant_id into v_tenant from writ_data.contract c where c.contract_id = (select y.contract_id from writ_data.governance_job y where y.job_id = p_job_id) and writ_data.visible(c.tenant_id) for no key update;
  if v_tenant is null then
    return writ_data.refusal('job_not_found', p_job_id::text);
  end if;
  m := writ_data.may(p_key, 'activate', v_tenant);
  if m.refusal is not null then
    return m.refusal;
  end if;
  select * into g from writ_data.governance_job where job_id = p_job_id for no key update;
  if g.status in ('COMPLETED', 'CANCELLED', 'ROLLED_BACK', 'ROLLBACK_FAILED') then
    return writ_data.refusal('job_terminal', format('It is %s.', g.status));
  elsif g.status <> 'PENDING' or g.kind <> 'forward' then
    return writ_data.refusal('job_running', format('It is %s: only a job that has not begun is cancelled.', g.status));
  end if;
  perform writ_data.move_governance_job(p_job_id, array['CANCELLED'], 'cancel', coalesce(nullif(btrim(p_reason), ''), 'cancelled'), (m.who).principal_id, v_now);
  perform writ_data.close_contracts(array[g.contract_id], 'FAILED', array['cancelled'], (m.who).principal_id, v_now);
  perform writ_data.lock_runs(array[g.run_id]);
  perform writ_data.begin_ending(g.run_id, 'CANCELLED', '{"reason": "The governance job was cancelled.", "undo": false}', null, (m.who).principal_id, v_now);
  return jsonb_build_object('job_id', p_job_id, 'status', 'CANCELLED');
end $$;
