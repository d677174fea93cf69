-- A person has a rollback tried again that has failed: a new rollback job, for the same steps. The job that it is for keeps its status, and says by which job it was resolved. Answers {job_id}.
-- Callers: writ_principal, writ_server
create or replace function writ.fn_rollback_retry(p_key text, p_job_id uuid) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := writ.now(); g writ_data.governance_job; c writ_data.contract; m record; v_undo jsonb; v_job uuid := writ_data.uuidv7();
begin
  select * into c from writ_data.contract x where x.contract_id = (select y.contract_id from writ_data.governance_job y where y.job_id = p_job_id) and writ_data.visible(x.tenant_id) for no key update;
  if not found then
    return writ_data.refusal('job_not_found', p_job_id::text);
  end if;
  m := writ_data.may(p_key, 'operate', c.tenant_id);
  select * into g from writ_data.governance_job where job_id = p_job_id for no key update;
  if m.refusal is not null then
    return m.refusal;
  elsif g.kind <> 'forward' or g.status <> 'ROLLBACK_FAILED' or exists (select from writ_data.governance_job x where x.of_job_id = p_job_id and x.status = 'COMPLETED') then
    return writ_data.refusal('invalid_transition', format('It is %s.', g.status));
  elsif exists (select from writ_data.governance_job x where x.of_job_id = p_job_id and x.status in ('PENDING', 'RUNNING', 'AUDIT_PENDING')) then
    return writ_data.refusal('job_running', 'A rollback of it goes on.');
  end if;
  -- What the rollbacks before have restored is restored.
  select jsonb_agg(jsonb_build_object('step_type', s.step_type, 'target', s.target, 'parameters', jsonb_build_object('undo_of', s.step_no)) order by s.step_no desc) into v_undo from writ_data.governance_step s
  where s.job_id = p_job_id and s.rollback_action is not null and not exists (select from writ_data.governance_step u join writ_data.governance_job x on x.job_id = u.job_id where x.of_job_id = p_job_id and u.of_step_no = s.step_no and u.done_at is not null);
  if v_undo is null then
    return writ_data.refusal('invalid_transition', 'There is nothing left to undo.');
  end if;
  perform writ_data.start_governance_jobs(array[v_job], array[c.contract_id], 'rollback', array[p_job_id], array[v_undo], array[g.state_before], 'rollback_created', 'tried again by ' || (m.who).principal_id, (m.who).principal_id, v_now);
  return jsonb_build_object('job_id', v_job);
end $$;
