-- internal
-- Writes down what apply_change has done, of any number of governance jobs, which the caller has locked: a receipt, a row and the progress of each; those whose last step it was await their audit.
create or replace function writ_data.changes_made(p_made jsonb[], p_actor text, p_at timestamptz) returns void language plpgsql as $$
declare
  v_entries text[]; v_nos bigint[]; m record;
begin
  with made as materialized (
    select (x ->> 'job')::uuid as job, (x ->> 'step')::integer as step, x ->> 'tenant' as tenant, x ->> 'reason' as reason, (x -> 'context') || jsonb_build_object('job_id', x -> 'job', 'contract_id', x -> 'contract') as context, n from unnest(p_made) with ordinality u(x, n)
  ), counted as (
    update writ_data.governance_job g set done_steps = d.step, receipts = g.receipts + 1, updated_at = p_at from made d where g.job_id = d.job returning d.n, g.receipts
  )
  select array_agg(writ_data.governance_entry(d.tenant, concat('governance_job:', d.job), c.receipts, 'accept', d.reason, d.context, p_at) order by d.n) into v_entries from made d join counted c on c.n = d.n;
  v_nos := writ_data.append_receipts(v_entries, p_at);
  insert into writ_data.governance_step (job_id, step_no, step_type, target, parameters, found, applied, found_version, written_version, rollback_action, evidence, of_step_no, receipt_no, began_at, done_at)
  select (x ->> 'job')::uuid, (x ->> 'step')::integer, x ->> 'step_type', x ->> 'target', x -> 'parameters', nullif(x -> 'found', 'null'), nullif(x -> 'applied', 'null'), (x ->> 'found_version')::bigint, (x ->> 'written_version')::bigint, nullif(x -> 'rollback_action', 'null'),
    x -> 'evidence', (x ->> 'of_step')::integer, v_nos[n], p_at, p_at
  from unnest(p_made) with ordinality u(x, n)
  on conflict (job_id, step_no) do update set applied = excluded.applied, evidence = excluded.evidence, receipt_no = excluded.receipt_no, done_at = excluded.done_at; -- it had begun
  for m in
    -- Whether what was restored is what it was before is for the audit to say: what could be is.
    select g.job_id, writ_data.state_hash(case g.kind when 'forward' then s.state else writ_data.state_of(c.tenant_id, c.steps, s.state) end) as state
    from unnest(p_made) x join writ_data.governance_job g on g.job_id = (x ->> 'job')::uuid join writ_data.contract c on c.contract_id = g.contract_id
    cross join lateral (select c.pre_state::jsonb || writ_data.applied_by(coalesce(g.of_job_id, g.job_id)) as state) s
    where (x ->> 'last')::boolean
  loop
    perform writ_data.await_audit(m.job_id, m.state, p_actor, p_at);
  end loop;
end $$;
