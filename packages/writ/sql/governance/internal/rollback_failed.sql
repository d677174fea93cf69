-- A rollback job, FAILED, could not restore: it and the job that it was for are ROLLBACK_FAILED, the contract has failed, and people are told. The holds stay until somebody has resolved it. If a person had it tried again, only the new rollback job ends so.
create or replace function writ_data.rollback_failed(p_job uuid, p_reason text, p_actor text, p_at timestamptz) returns void language plpgsql as $$
declare
  g writ_data.governance_job; o writ_data.governance_job; v_incident uuid;
begin
  select * into g from writ_data.governance_job where job_id = p_job;
  select * into o from writ_data.governance_job where job_id = g.of_job_id for no key update;
  perform writ_data.move_governance_job(p_job, array['ROLLBACK_FAILED'], 'rollback_failed', p_reason, p_actor, p_at);
  if o.status = 'ROLLBACK_PENDING' then
    perform writ_data.move_governance_job(o.job_id, array['ROLLBACK_FAILED'], 'rollback_failed', p_reason, p_actor, p_at);
    perform writ_data.move_contract(g.contract_id, 'FAILED', 'rollback failed: ' || p_reason, p_actor, p_at);
  end if;
  v_incident := writ_data.open_incident(g.tenant_id, null, 'P1', 'governance_job/' || o.job_id, format('The rollback of job %s has failed: %s', o.job_id, p_reason), p_actor, p_at);
  perform writ_data.raise_alert('ROLLBACK_FAILED', 'P1', g.tenant_id, 'governance_job/' || o.job_id, jsonb_build_object('rollback_job', p_job, 'reason', left(p_reason, 1000), 'incident', v_incident), p_actor, p_at);
end $$;
