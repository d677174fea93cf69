-- Contracts, with the names of the specification. In the order of lists: the planner does not look
-- through a security barrier, so it uses an index for that order only if the order stands here. The
-- tenant is compared in two parts, because the planner expects half of all rows to pass a condition
-- that it cannot estimate, and one in fifty to equal a tenant: then it would scan and sort them.
-- Callers: writ_principal, processes, readers
create or replace view writ.system_contracts with (security_barrier) as
select
  c.contract_id, c.tenant_id, c.version, c.issue_id, c.source, c.status, c.status_reason, c.title,
  c.description, c.content, encode(c.scope_hash, 'hex') as scope_hash, c.steps,
  c.steps as proposed_changes, c.scope as affected_capabilities, c.risk_level,
  c.validator_verdict, c.eligibility_verdict, c.confidence as confidence_score, c.created_by,
  c.on_behalf_of, c.approved_by, c.approved_at, c.policy_version, c.pre_state,
  encode(c.approval_hash, 'hex') as approval_hash, c.escalated_by, c.glass_broken,
  c.window_start as activation_window_start, c.window_end as activation_window_end,
  c.constraints as execution_constraints, c.audit_verdict, c.audit_reason, c.audit_completed_at,
  c.parent_contract_id, c.template_id, c.template, c.template_params, c.job_id, c.created_at,
  c.updated_at, c.expires_at,
  (
    select jsonb_agg(
      jsonb_build_object(
        'from_status', h.from_status, 'to_status', h.to_status, 'reason', h.reason,
        'transitioned_by', h.by, 'transitioned_at', h.at
      )
      order by h.version
    )
    from writ_data.contract_history h
    where h.contract_id = c.contract_id
  ) as transition_history
from writ_data.contract c
where (select writ.visible_tenant() = '') or c.tenant_id = (select writ.visible_tenant())
order by c.contract_id desc;
