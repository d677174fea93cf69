-- Audits of governance jobs. In the order of lists, as system_contracts.
-- Callers: writ_principal, processes, readers
create or replace view writ.governance_audits with (security_barrier) as
select
  a.audit_id, a.tenant_id, a.job_id, a.contract_id, a.verdict, a.verdict_reason,
  a.created_at as verdict_at, a.checks as checks_performed,
  (
    select count(*)::integer
    from jsonb_array_elements(a.checks) c
    where c ->> 'result' = 'PASS'
  ) as checks_passed,
  (
    select count(*)::integer
    from jsonb_array_elements(a.checks) c
    where c ->> 'result' = 'FAIL'
  ) as checks_failed,
  (
    select count(*)::integer
    from jsonb_array_elements(a.checks) c
    where c ->> 'result' = 'INCONCLUSIVE'
  ) as checks_inconclusive,
  a.evidence, a.health_before as health_snapshot_before,
  a.health_after as health_snapshot_after, a.auditor_version, a.duration_ms, a.supersedes,
  a.resolved_by, a.acknowledged_by, a.created_at
from writ_data.governance_audit a
where (select writ.visible_tenant() = '') or a.tenant_id = (select writ.visible_tenant())
order by a.audit_id desc;
