-- view: workflow_admin, dot_executor, writ_auditor
-- Governance jobs, with the names of the specification; their steps and counters are read from the log of their run and from what was written with each effect.
create or replace view writ.governance_jobs as
select g.job_id, g.tenant_id, g.contract_id, g.kind, g.of_job_id, g.version, g.status, g.status_reason, g.run_id, g.executor_id, g.started_at, g.completed_at, round(extract(epoch from g.completed_at - g.started_at) * 1000)::bigint as duration_ms, g.total_steps,
  (select count(*)::integer from writ_data.run_event e where e.run_id = g.run_id and e.event_type = 'StepCompleted') as completed_steps,
  (select max(substr(e.step_id, 2)::integer) from writ_data.run_event e where e.run_id = g.run_id and e.event_type = 'StepStarted') as current_step,
  g.max_duration_ms, encode(g.scope_hash, 'hex') as scope_hash, encode(g.state_before, 'hex') as state_before, encode(g.state_after, 'hex') as state_after, g.health_before, g.rollback_job_id, g.rollback_reason, case when g.status = 'ROLLBACK_FAILED' then (select x.job_id from writ_data.governance_job x where x.of_job_id = g.job_id and x.status = 'COMPLETED') end as resolved_by_job_id, g.audit_id, g.audit_verdict, g.created_at, g.updated_at,
  (select jsonb_agg(jsonb_build_object('from_status', h.from_status, 'to_status', h.to_status, 'event', h.event, 'reason', h.reason, 'by', h.by, 'at', h.at) order by h.version) from writ_data.governance_job_history h where h.job_id = g.job_id) as history
from writ_data.governance_job g where coalesce(current_setting('writ.tenant', true), '') in ('', g.tenant_id);
