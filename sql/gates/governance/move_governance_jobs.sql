-- internal
-- Governance jobs move, all from the same state, by way of other states if need be (p_path, the last is where they stay): their rows, a row of history for each state, a receipt each, and facts in the record. The caller has locked them, and has set what else changes: where one has come to
-- its end, nothing does any more.
create or replace function writ_data.move_governance_jobs(p_jobs uuid[], p_path text[], p_event text, p_reason text, p_actor text, p_at timestamptz) returns void language plpgsql as $$
declare
  v_from text; v_n integer := cardinality(p_path); v_to text := p_path[v_n]; v_entries text[];
begin
  select min(g.status) into v_from from writ_data.governance_job g where g.job_id = any (p_jobs);
  with moved as (
    update writ_data.governance_job set status = v_to, status_reason = coalesce(p_reason, status_reason), version = version + v_n, receipts = receipts + 1, updated_at = p_at, due_at = case when v_to in ('RUNNING', 'AUDIT_PENDING') then due_at end
    where job_id = any (p_jobs) returning job_id, tenant_id, contract_id, receipts, version - v_n as version
  ), history as (
    insert into writ_data.governance_job_history (job_id, version, from_status, to_status, event, reason, by, at)
    select m.job_id, m.version + u.n, case when u.n = 1 then v_from else p_path[u.n - 1] end, u.status, p_event, p_reason, p_actor, p_at from moved m cross join unnest(p_path) with ordinality u(status, n)
  )
  select array_agg(writ_data.governance_entry(m.tenant_id, concat('governance_job:', m.job_id), m.receipts, case when v_to in ('FAILED', 'CANCELLED', 'ROLLBACK_PENDING', 'ROLLBACK_FAILED', 'ROLLED_BACK') then 'refuse' else 'accept' end, 'governance_job_moved',
    jsonb_build_object('job_id', m.job_id, 'contract_id', m.contract_id, 'from', v_from, 'to', v_to, 'event', p_event, 'why', left(p_reason, 1000), 'by', p_actor), p_at))
  into v_entries from moved m;
  perform writ_data.append_receipts(v_entries, p_at);
  perform writ_data.record('fn_governance_job_move', p_actor, p_at, p_jobs, array['governance.job_moved'], array[1], array[cardinality(p_jobs)], jsonb_build_object('from', v_from, 'to', v_to, 'event', p_event));
end $$;
