-- Moves governance jobs, all from the same state: their rows with the times that go with it, a row
-- of history for each state, a receipt each, and facts in the record. p_path is the states on the
-- way; they stay in the last. p_states has, for each job whose steps are done, the hash of the
-- state that it left. The caller has locked the jobs and has already set what else changes, because
-- a job that has ended no longer changes.
create or replace function writ_data.move_governance_jobs(
  p_jobs uuid[],
  p_path text[],
  p_event text,
  p_reason text,
  p_actor text,
  p_at timestamptz,
  p_states bytea[] default null
) returns void
language plpgsql
as $$
declare
  v_from text;
  v_n integer := cardinality(p_path);
  v_to text := p_path[v_n];
  v_entries text[];
begin
  select min(g.status) into v_from from writ_data.governance_job g where g.job_id = any (p_jobs);
  with moved as (
    update writ_data.governance_job g
    set
      status = v_to,
      status_reason = coalesce(p_reason, g.status_reason),
      version = g.version + v_n,
      receipts = g.receipts + 1,
      updated_at = greatest(g.updated_at, p_at),
      started_at = case
        when v_to = 'RUNNING' then greatest(g.created_at, p_at)
        else g.started_at
      end,
      executor_id = case when v_to = 'RUNNING' then p_actor else g.executor_id end,
      completed_at = case
        when p_event = 'run_completed' then greatest(g.started_at, p_at)
        else g.completed_at
      end,
      state_after = coalesce(u.state, g.state_after),
      due_at = case v_to
        when 'RUNNING'
          then case
            when g.kind = 'forward'
              then least(
                p_at + g.max_duration_ms * interval '1 millisecond',
                (select c.window_end from writ_data.contract c where c.contract_id = g.contract_id)
              )
          end
        -- A rollback that has begun goes on, however long it takes.
        when 'AUDIT_PENDING'
          then case
            when g.audits < 2
              then p_at + (writ_data.setting('governance.audit.timeout_sec'))::double precision
                * interval '1 second'
          end
      end
    from unnest(p_jobs, p_states) u(id, state)
    where g.job_id = u.id
    returning
      g.job_id, g.tenant_id, g.contract_id, g.receipts, g.version - v_n as version,
      g.updated_at as at
  ), history as (
    insert into writ_data.governance_job_history (
      job_id, version, from_status, to_status, event, reason, by, at
    )
    select
      m.job_id,
      m.version + u.n,
      case when u.n = 1 then v_from else p_path[u.n - 1] end,
      u.status, p_event, p_reason, p_actor, m.at
    from moved m
    cross join unnest(p_path) with ordinality u(status, n)
  )
  select array_agg(writ_data.governance_entry(
    m.tenant_id, concat('governance_job:', m.job_id), m.receipts,
    case
      when v_to in ('FAILED', 'CANCELLED', 'ROLLBACK_PENDING', 'ROLLBACK_FAILED', 'ROLLED_BACK')
        then 'refuse'
      else 'accept'
    end,
    'governance_job_moved',
    jsonb_build_object(
      'job_id', m.job_id,
      'contract_id', m.contract_id,
      'from', v_from,
      'to', v_to,
      'event', p_event,
      'why', left(p_reason, 1000),
      'by', p_actor
    ),
    p_at
  ))
  into v_entries
  from moved m;

  perform writ_data.append_receipts(v_entries, p_at);
  perform writ_data.record(
    'fn_governance_job_move', p_actor, p_at, p_jobs, array['governance.job_moved'], array[1],
    array[cardinality(p_jobs)],
    jsonb_build_object('from', v_from, 'to', v_to, 'event', p_event)
  );
end $$;
