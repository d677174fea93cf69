-- Tries a failed rollback again, with a new rollback job for the steps that are not restored yet.
-- Callers: writ_principal, writ_server
-- Answers: {job_id} of the new rollback job. The original job keeps its status and names the job
--          that resolved it.
-- Refuses: job_not_found, invalid_transition, job_running, target_not_held (its incident was
--          resolved, which freed its targets), and what may() refuses (right: operate).
-- Locks:   the contract, then the governance job.
create or replace function writ.fn_rollback_retry(p_key text, p_job_id uuid) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  c writ_data.contract;
  m record;
  g writ_data.governance_job;
  v_undo jsonb;
  v_free text;
  v_job uuid := writ_data.uuidv7();
begin
  select * into c
  from writ_data.contract x
  where x.contract_id = (
      select y.contract_id from writ_data.governance_job y where y.job_id = p_job_id
    )
    and writ_data.visible(x.tenant_id)
  for no key update;
  if not found then
    return writ_data.refusal('job_not_found', p_job_id::text);
  end if;
  m := writ_data.may(p_key, 'operate', c.tenant_id);
  if m.refusal is not null then
    return m.refusal;
  end if;

  select * into g from writ_data.governance_job where job_id = p_job_id for no key update;
  if g.kind <> 'forward' or g.status <> 'ROLLBACK_FAILED' or exists (
    select from writ_data.governance_job x
    where x.of_job_id = p_job_id and x.status = 'COMPLETED'
  ) then
    return writ_data.refusal('invalid_transition', format('It is %s.', g.status));
  elsif exists (
    select from writ_data.governance_job x
    where x.of_job_id = p_job_id and x.status in ('PENDING', 'RUNNING', 'AUDIT_PENDING')
  ) then
    return writ_data.refusal('job_running', 'A rollback of it goes on.');
  end if;
  v_undo := writ_data.steps_to_undo(p_job_id);
  if v_undo is null then
    return writ_data.refusal('invalid_transition', 'There is nothing left to undo.');
  end if;
  select string_agg(distinct x ->> 'target', ', ') into v_free
  from jsonb_array_elements(v_undo) x
  where not exists (
    select from writ_data.target_hold h
    where h.tenant_id = c.tenant_id and h.target = x ->> 'target'
      and h.contract_id = c.contract_id
  );
  if v_free is not null then
    return writ_data.refusal('target_not_held', v_free);
  end if;

  perform writ_data.start_governance_jobs(
    array[v_job], array[c.contract_id], 'rollback', array[p_job_id], array[v_undo],
    array[g.state_before], 'rollback_created', 'tried again by ' || (m.who).principal_id,
    (m.who).principal_id, v_now
  );
  return jsonb_build_object('job_id', v_job);
end $$;
