-- Moves governance jobs whose steps are all done to AUDIT_PENDING, by way of COMPLETED, and
-- enqueues their audits. The caller has locked them.
create or replace function writ_data.await_audits(
  p_jobs uuid[],
  p_actor text,
  p_at timestamptz
) returns void
language plpgsql
as $$
declare
  v_states bytea[];
  j record;
begin
  -- The audit decides whether the restored state equals the state before.
  select array_agg(
    writ_data.state_hash(
      case g.kind
        when 'forward' then s.state
        else writ_data.state_of(c.tenant_id, c.steps, s.state)
      end
    )
    order by u.n
  )
  into v_states
  from unnest(p_jobs) with ordinality u(id, n)
  join writ_data.governance_job g on g.job_id = u.id
  join writ_data.contract c on c.contract_id = g.contract_id
  cross join lateral (
    select c.pre_state::jsonb || writ_data.applied_by(coalesce(g.of_job_id, g.job_id)) as state
  ) s;

  perform writ_data.move_governance_jobs(
    p_jobs, array['COMPLETED', 'AUDIT_PENDING'], 'run_completed', null, p_actor, p_at, v_states
  );
  for j in
    select g.tenant_id, array_agg(g.job_id order by g.job_id) as ids
    from writ_data.governance_job g
    where g.job_id = any (p_jobs)
    group by 1
  loop
    perform writ_data.enqueue_governance('governance.audit', j.ids, j.tenant_id, p_actor);
  end loop;
end $$;
