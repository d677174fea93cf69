-- internal
-- Every step of a governance job is done: by way of COMPLETED it awaits its audit, which is enqueued. The caller has locked it.
create or replace function writ_data.await_audit(p_job uuid, p_state bytea, p_actor text, p_at timestamptz) returns void language plpgsql as $$
declare
  v_tenant text;
begin
  update writ_data.governance_job set completed_at = p_at, state_after = p_state, due_at = p_at + (writ_data.setting('governance.audit.timeout_sec'))::double precision * interval '1 second' where job_id = p_job returning tenant_id into v_tenant;
  perform writ_data.move_governance_job(p_job, array['COMPLETED', 'AUDIT_PENDING'], 'run_completed', null, p_actor, p_at);
  perform writ_data.enqueue_governance('governance.audit', p_job, v_tenant, p_actor);
end $$;
