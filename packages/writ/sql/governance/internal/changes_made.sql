-- Writes down what apply_changes has done, of any number of governance jobs, which the caller has locked: a receipt and a row of each step, and the progress of each job. Those that had not begun have; those whose last step it was await their audit.
create or replace function writ_data.changes_made(p_made jsonb[], p_actor text, p_at timestamptz) returns void language plpgsql as $$
declare
  v_nos bigint[]; v_jobs uuid[];
begin
  v_jobs := array(select distinct (x ->> 'job')::uuid from unnest(p_made) x where (x ->> 'pending')::boolean);
  if v_jobs <> '{}' then
    perform writ_data.move_governance_jobs(v_jobs, array['RUNNING'], 'run_started', null, p_actor, p_at);
  end if;
  with made as materialized (
    select (x ->> 'job')::uuid as job, (x ->> 'step')::integer as step, x ->> 'tenant' as tenant, x ->> 'reason' as reason, (x -> 'context') || jsonb_build_object('job_id', x -> 'job', 'contract_id', x -> 'contract') as context, n from unnest(p_made) with ordinality u(x, n)
  ), counted as (
    update writ_data.governance_job g set done_steps = d.last, receipts = g.receipts + d.last - d.first + 1, updated_at = p_at from (select m.job, min(m.step) as first, max(m.step) as last from made m group by 1) d where g.job_id = d.job returning g.job_id, g.receipts - g.done_steps as before
  )
  select writ_data.append_receipts(array_agg(writ_data.governance_entry(d.tenant, concat('governance_job:', d.job), c.before + d.step, 'accept', d.reason, d.context, p_at) order by d.n), p_at) into v_nos from made d join counted c on c.job_id = d.job;
  insert into writ_data.governance_step (job_id, step_no, step_type, target, parameters, found, applied, found_version, written_version, rollback_action, evidence, of_step_no, receipt_no, began_at, done_at)
  select (x ->> 'job')::uuid, (x ->> 'step')::integer, x ->> 'step_type', x ->> 'target', x -> 'parameters', nullif(x -> 'found', 'null'), nullif(x -> 'applied', 'null'), (x ->> 'found_version')::bigint, (x ->> 'written_version')::bigint, nullif(x -> 'rollback_action', 'null'),
    x -> 'evidence', (x ->> 'of_step')::integer, v_nos[n], p_at, p_at
  from unnest(p_made) with ordinality u(x, n)
  on conflict (job_id, step_no) do update set applied = excluded.applied, evidence = excluded.evidence, receipt_no = excluded.receipt_no, done_at = excluded.done_at; -- it had begun
  v_jobs := array(select (x ->> 'job')::uuid from unnest(p_made) x where (x ->> 'last')::boolean);
  if v_jobs <> '{}' then
    perform writ_data.await_audits(v_jobs, p_actor, p_at);
  end if;
end $$;
