-- Handles a rollback job that FAILED. It and its original job become ROLLBACK_FAILED, the contract
-- fails, and an incident and an alert call for a person. The holds stay until an operator resolves
-- the incident. If a person had retried the rollback, only the new rollback job becomes
-- ROLLBACK_FAILED, and the incident of the original job stands for it, too.
-- The caller has locked the contract and the rollback job.
create or replace function writ_data.rollback_failed(
  p_job uuid,
  p_reason text,
  p_actor text,
  p_at timestamptz
) returns void
language plpgsql
as $$
declare
  g writ_data.governance_job;
  o writ_data.governance_job;  -- the original
  v_subject text;
  v_incident uuid;
begin
  select * into g from writ_data.governance_job where job_id = p_job;
  select * into o from writ_data.governance_job where job_id = g.of_job_id for no key update;
  v_subject := 'governance_job/' || o.job_id;
  perform writ_data.move_governance_job(
    p_job, array['ROLLBACK_FAILED'], 'rollback_failed', p_reason, p_actor, p_at
  );
  if o.status = 'ROLLBACK_PENDING' then
    perform writ_data.move_governance_job(
      o.job_id, array['ROLLBACK_FAILED'], 'rollback_failed', p_reason, p_actor, p_at
    );
    perform writ_data.move_contract(
      g.contract_id, 'FAILED', 'rollback failed: ' || p_reason, p_actor, p_at
    );
  end if;

  select i.incident_id into v_incident
  from writ_data.incident i
  where i.tenant_id = g.tenant_id and i.capability is null and i.resolved_at is null
    and i.subject = v_subject
  order by i.opened_at limit 1;
  v_incident := coalesce(v_incident, writ_data.open_incident(
    g.tenant_id, null, 'P1', v_subject,
    format('The rollback of job %s has failed: %s', o.job_id, p_reason), p_actor, p_at
  ));
  perform writ_data.raise_alert(
    'ROLLBACK_FAILED', 'P1', g.tenant_id, v_subject,
    jsonb_build_object(
      'rollback_job', p_job, 'reason', left(p_reason, 1000), 'incident', v_incident
    ),
    p_actor, p_at
  );
end $$;
