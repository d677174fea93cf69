-- internal
-- A governance job and the run that does it. p_steps are the contract's steps, or those that undo them. The caller has locked the contract.
create or replace function writ_data.start_governance_job(p_contract writ_data.contract, p_kind text, p_of uuid, p_steps jsonb, p_state bytea, p_event text, p_reason text, p_actor text, p_at timestamptz) returns uuid language plpgsql as $$
declare
  v_job uuid := writ_data.uuidv7(); v_run uuid := writ_data.uuidv7(); v_plan integer; v_timeout bigint := coalesce((p_contract.constraints ->> 'step_timeout_ms')::bigint, 300000); v_max bigint := coalesce((p_contract.constraints ->> 'max_duration_ms')::bigint, 3600000);
begin
  select writ_data.governed_plan(array_agg('governance.' || (s.step ->> 'step_type') order by s.n), array_agg(case when s.step ->> 'step_type' = 'soak' then (s.step #>> '{parameters,duration_ms}')::bigint + 60000 else v_timeout end order by s.n), p_actor)
  into v_plan from jsonb_array_elements(p_steps) with ordinality s(step, n);
  insert into writ_data.run (run_id, tenant_id, project_id, environment_id, plan_no, engine, priority, status, input, started_by, created_at, moved_at, governed_by)
  values (v_run, p_contract.tenant_id, 'governance', 'default', v_plan, 'native', 0, 'RUNNING', jsonb_build_object('job', v_job, 'steps', p_steps), p_actor, p_at, p_at, v_job);
  insert into writ_data.governance_job (job_id, tenant_id, contract_id, kind, of_job_id, status, run_id, total_steps, max_duration_ms, scope_hash, state_before, rollback_reason, due_at, created_at, updated_at)
  values (v_job, p_contract.tenant_id, p_contract.contract_id, p_kind, p_of, 'PENDING', v_run, jsonb_array_length(p_steps), v_max, p_contract.scope_hash, p_state, case when p_kind = 'rollback' then p_reason end,
    case when p_kind = 'forward' then p_contract.window_end end, p_at, p_at);
  insert into writ_data.governance_job_history (job_id, version, from_status, to_status, event, reason, by, at) values (v_job, 1, '', 'PENDING', p_event, p_reason, p_actor, p_at);
  perform writ_data.job_receipt(v_job, 'accept', 'governance_job_moved', jsonb_build_object('to', 'PENDING', 'event', p_event, 'why', left(p_reason, 1000), 'by', p_actor, 'scope_hash', encode(p_contract.scope_hash, 'hex'),
    'state_before', encode(p_state, 'hex'), 'run_id', v_run, 'of_job_id', p_of), p_at);
  perform writ_data.record('fn_governance_job_move', p_actor, p_at, array[v_job], array['governance.job_moved'], array[1], array[1], jsonb_build_object('from', '', 'to', 'PENDING', 'event', p_event));
  perform writ_data.begin_runs(array[v_run], 'fn_run_start', p_actor, p_at);
  return v_job;
end $$;
