-- internal
-- A governance job moves, by way of other states if need be (p_path, the last is where it stays): its row, a row of history for each, a receipt, and a fact in the record. The caller has locked it, and has set what else changes: where it has come to its end, nothing does any more.
create or replace function writ_data.move_governance_job(p_job uuid, p_path text[], p_event text, p_reason text, p_actor text, p_at timestamptz) returns void language plpgsql as $$
declare
  v_from text; v_version integer; v_n integer := cardinality(p_path); v_to text := p_path[v_n]; j record;
begin
  select status, version into v_from, v_version from writ_data.governance_job where job_id = p_job;
  update writ_data.governance_job set status = v_to, status_reason = coalesce(p_reason, status_reason), version = version + v_n, receipts = receipts + 1, updated_at = p_at, due_at = case when v_to in ('RUNNING', 'AUDIT_PENDING') then due_at end
  where job_id = p_job returning tenant_id, contract_id, receipts into j;
  insert into writ_data.governance_job_history (job_id, version, from_status, to_status, event, reason, by, at)
  select p_job, v_version + u.n, case when u.n = 1 then v_from else p_path[u.n - 1] end, u.status, p_event, p_reason, p_actor, p_at from unnest(p_path) with ordinality u(status, n);
  perform writ_data.governance_receipt(j.tenant_id, concat('governance_job:', p_job), j.receipts, case when v_to in ('FAILED', 'CANCELLED', 'ROLLBACK_PENDING', 'ROLLBACK_FAILED', 'ROLLED_BACK') then 'refuse' else 'accept' end, 'governance_job_moved',
    jsonb_build_object('job_id', p_job, 'contract_id', j.contract_id, 'from', v_from, 'to', v_to, 'event', p_event, 'why', left(p_reason, 1000), 'by', p_actor), p_at);
  perform writ_data.record('fn_governance_job_move', p_actor, p_at, array[p_job], array['governance.job_moved'], array[1], array[1], jsonb_build_object('from', v_from, 'to', v_to, 'event', p_event));
end $$;
