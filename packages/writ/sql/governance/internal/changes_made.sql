-- Writes what apply_changes has done for any number of governance jobs: a receipt and a row of each
-- step, and the progress of each job. A job that was PENDING is RUNNING then; a job whose last step
-- is among these awaits its audit, or fails if it is a rollback that could not restore a target.
-- The caller has locked the jobs, and the contracts of rollbacks before them.
create or replace function writ_data.changes_made(
  p_made jsonb[],
  p_actor text,
  p_at timestamptz
) returns void
language plpgsql
as $$
declare
  v_nos bigint[];  -- of the receipts
  v_jobs uuid[];
  v_lost record;
begin
  v_jobs := array(
    select distinct (x ->> 'job')::uuid from unnest(p_made) x where (x ->> 'pending')::boolean
  );
  if v_jobs <> '{}' then
    perform writ_data.move_governance_jobs(
      v_jobs, array['RUNNING'], 'run_started', null, p_actor, p_at
    );
  end if;

  with made as materialized (
    select
      (x ->> 'job')::uuid as job, (x ->> 'step')::integer as step, x ->> 'tenant' as tenant,
      x ->> 'reason' as reason,
      case when x ->> 'error' is null then 'accept' else 'refuse' end as status,
      (x -> 'context') || jsonb_build_object('job_id', x -> 'job', 'contract_id', x -> 'contract')
        as context,
      n
    from unnest(p_made) with ordinality u(x, n)
  ), counted as (
    update writ_data.governance_job g
    set done_steps = d.last, receipts = g.receipts + d.last - d.first + 1,
      updated_at = greatest(g.updated_at, p_at)
    from (
      select m.job, min(m.step) as first, max(m.step) as last from made m group by 1
    ) d
    where g.job_id = d.job
    returning g.job_id, g.receipts - g.done_steps as before
  )
  select writ_data.append_receipts(
    array_agg(
      writ_data.governance_entry(
        d.tenant, concat('governance_job:', d.job), c.before + d.step, d.status, d.reason,
        d.context, p_at
      ) order by d.n
    ),
    p_at
  )
  into v_nos
  from made d
  join counted c on c.job_id = d.job;

  insert into writ_data.governance_step (
    job_id, step_no, step_type, target, parameters, found, applied, found_version,
    written_version, rollback_action, evidence, of_step_no, receipt_no, began_at, done_at, error
  )
  select
    (x ->> 'job')::uuid, (x ->> 'step')::integer, x ->> 'step_type', x ->> 'target',
    x -> 'parameters', nullif(x -> 'found', 'null'), nullif(x -> 'applied', 'null'),
    (x ->> 'found_version')::bigint, (x ->> 'written_version')::bigint,
    nullif(x -> 'rollback_action', 'null'), x -> 'evidence', (x ->> 'of_step')::integer,
    v_nos[n], p_at, case when x ->> 'error' is null then p_at end, x ->> 'error'
  from unnest(p_made) with ordinality u(x, n)
  -- It had begun, or was refused before.
  on conflict (job_id, step_no) do update
  set found = excluded.found, applied = excluded.applied,
    found_version = excluded.found_version, written_version = excluded.written_version,
    rollback_action = excluded.rollback_action, evidence = excluded.evidence,
    receipt_no = excluded.receipt_no, done_at = excluded.done_at, error = excluded.error;

  v_jobs := array(select (x ->> 'job')::uuid from unnest(p_made) x where (x ->> 'last')::boolean);
  for v_lost in
    select
      s.job_id, min(s.step_no) as step_no, string_agg(s.error, ' ' order by s.step_no) as errors
    from writ_data.governance_step s
    where s.job_id = any (v_jobs) and s.error is not null
    group by 1
    order by 1
  loop
    v_jobs := array_remove(v_jobs, v_lost.job_id);
    perform writ_data.fail_governance_job(
      v_lost.job_id, 'step_failed',
      format('Step %s failed: %s', v_lost.step_no, left(v_lost.errors, 1000)), p_actor, p_at
    );
  end loop;
  if v_jobs <> '{}' then
    perform writ_data.await_audits(v_jobs, p_actor, p_at);
  end if;
end $$;
