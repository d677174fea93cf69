-- Governance jobs, with the names of the specification. Their steps and counters are read from the
-- log of their run, and from what was written with each effect. In the order of lists, as
-- system_contracts.
-- Callers: writ_principal, processes, readers
create or replace view writ.governance_jobs with (security_barrier) as
select
  g.job_id, g.tenant_id, g.contract_id, g.kind, g.of_job_id, g.version, g.status, g.status_reason,
  g.run_id, g.executor_id, g.started_at, g.completed_at,
  round(extract(epoch from g.completed_at - g.started_at) * 1000)::bigint as duration_ms,
  g.total_steps,
  (
    select coalesce(sum(s.last - s.first + 1), 0)::integer
    from writ_data.run_event e
    cross join lateral (
      select
        case when e.step_id ~ '^s[0-9]'
          then split_part(substr(e.step_id, 2), '-', 1)::integer end as first,
        case when e.step_id ~ '^s[0-9]'
          then split_part(substr(e.step_id, 2), '-', -1)::integer end as last
    ) s
    where e.run_id = g.run_id and e.event_type = 'StepCompleted'
  ) - (
    select count(*)::integer
    from writ_data.governance_step s
    where s.job_id = g.job_id and s.error is not null
  ) as completed_steps,
  (
    select max(
      case when e.step_id ~ '^s[0-9]'
        then split_part(substr(e.step_id, 2), '-', -1)::integer end
    )
    from writ_data.run_event e
    where e.run_id = g.run_id and e.event_type = 'StepStarted'
  ) as current_step,
  g.max_duration_ms, encode(g.scope_hash, 'hex') as scope_hash,
  encode(g.state_before, 'hex') as state_before, encode(g.state_after, 'hex') as state_after,
  g.health_before, g.rollback_job_id, g.rollback_reason,
  case when g.status = 'ROLLBACK_FAILED' then (
    select x.job_id
    from writ_data.governance_job x
    where x.of_job_id = g.job_id and x.status = 'COMPLETED'
  ) end as resolved_by_job_id,
  g.audit_id, g.audit_verdict, g.created_at, g.updated_at,
  (
    select jsonb_agg(
      jsonb_build_object(
        'from_status', h.from_status, 'to_status', h.to_status, 'event', h.event,
        'reason', h.reason, 'by', h.by, 'at', h.at
      )
      order by h.version
    )
    from writ_data.governance_job_history h
    where h.job_id = g.job_id
  ) as history
from writ_data.governance_job g
where (select writ.visible_tenant() = '') or g.tenant_id = (select writ.visible_tenant())
order by g.job_id desc;
