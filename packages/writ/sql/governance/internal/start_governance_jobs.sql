-- Starts governance jobs of contracts, and the runs that do them. p_steps has a contract's steps,
-- or those that undo them (p_of: of which job); p_states is the hash of the state before. The
-- caller has locked the contracts and chosen the ids.
create or replace function writ_data.start_governance_jobs(
  p_jobs uuid[],
  p_contracts uuid[],
  p_kind text,
  p_of uuid[],
  p_steps jsonb[],
  p_states bytea[],
  p_event text,
  p_reason text,
  p_actor text,
  p_at timestamptz
) returns void
language plpgsql
as $$
declare
  v_runs uuid[] := array(select writ_data.uuidv7() from unnest(p_jobs));
  v_entries text[];
begin
  with made as materialized (
    select u.*, c.tenant_id, c.scope_hash, c.window_end, c.constraints, c.contract_id
    from unnest(p_jobs, v_runs, p_contracts, p_of, p_steps, p_states)
      u(job, run, contract, of, steps, state)
    join writ_data.contract c on c.contract_id = u.contract
  ), run as (
    insert into writ_data.run (
      run_id, tenant_id, project_id, environment_id, plan_no, engine, priority, status, input,
      started_by, created_at, moved_at, governed_by
    )
    select
      m.run, m.tenant_id, 'governance', 'default',
      writ_data.governed_plan(
        m.steps,
        coalesce((m.constraints ->> 'step_timeout_ms')::bigint, 300000),
        p_actor
      ),
      'native', 0, 'RUNNING',
      jsonb_build_object('job', m.job, 'kind', p_kind, 'steps', m.steps),
      p_actor, p_at, p_at, m.job
    from made m
  ), job as (
    insert into writ_data.governance_job (
      job_id, tenant_id, contract_id, kind, of_job_id, status, run_id, total_steps, max_duration_ms,
      scope_hash, state_before, rollback_reason, due_at, created_at, updated_at, receipts,
      health_before
    )
    select
      m.job, m.tenant_id, m.contract, p_kind, m.of, 'PENDING', m.run,
      jsonb_array_length(m.steps),
      writ_data.job_limit_ms(m.constraints),
      m.scope_hash, m.state,
      case when p_kind = 'rollback' then p_reason end,
      case when p_kind = 'forward' then m.window_end end,
      p_at, p_at, 1,
      case
        when p_kind = 'forward'
          then (
            select coalesce(jsonb_object_agg(h.capability, h.status), '{}')
            from (
              select distinct coalesce(o.owner_capability, s.target) as name
              from writ_data.slots(m.steps) s
              left join writ_data.configuration_scope o
                on o.tenant_id = m.tenant_id
                and o.scope = s.target
            ) x
            cross join lateral writ_data.health_of(m.tenant_id, p_only => x.name) h
          )
      end
    from made m
  ), history as (
    insert into writ_data.governance_job_history (
      job_id, version, from_status, to_status, event, reason, by, at
    )
    select m.job, 1, '', 'PENDING', p_event, p_reason, p_actor, p_at
    from made m
  )
  select array_agg(writ_data.governance_entry(
    m.tenant_id, concat('governance_job:', m.job), 1, 'accept', 'governance_job_moved',
    jsonb_build_object(
      'job_id', m.job,
      'contract_id', m.contract,
      'to', 'PENDING',
      'event', p_event,
      'why', left(p_reason, 1000),
      'by', p_actor,
      'scope_hash', encode(m.scope_hash, 'hex'),
      'state_before', encode(m.state, 'hex'),
      'run_id', m.run,
      'of_job_id', m.of
    ),
    p_at
  ))
  into v_entries
  from made m;

  perform writ_data.append_receipts(v_entries, p_at);
  perform writ_data.record(
    'fn_governance_job_move', p_actor, p_at, p_jobs, array['governance.job_moved'], array[1],
    array[cardinality(p_jobs)],
    jsonb_build_object('from', '', 'to', 'PENDING', 'event', p_event)
  );

  perform writ_data.begin_runs(v_runs, 'fn_run_start', p_actor, p_at);
end $$;
