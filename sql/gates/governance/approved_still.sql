-- internal
-- Whether what was approved is what a contract says: null, or the code of what is wrong. Asked at activation and at each effect: content, policy and pre-state are those that were signed, and enough persons have signed them; or the glass was broken.
create or replace function writ_data.approved_still(c writ_data.contract) returns text language sql stable
  return case
    when c.scope_hash <> sha256(convert_to(c.content, 'UTF8')) or c.steps <> c.content::jsonb -> 'steps' or to_jsonb(c.scope) <> c.content::jsonb -> 'scope' then 'approval_void'
    when c.approval_hash is distinct from writ_data.approval_hash(c.contract_id, c.content, c.policy_version, c.pre_state) then 'approval_void'
    when c.template_id is not null or c.glass_broken is not null then null
    when (select count(*) from writ_data.contract_review r where r.contract_id = c.contract_id and r.action = 'APPROVE' and r.hash = c.approval_hash and r.by <> c.created_by)
      < coalesce((select (p.document #>> array['approvals', c.risk_level])::integer from writ_data.governance_policy p where p.tenant_id = c.tenant_id and p.version = c.policy_version), case when c.risk_level in ('high', 'critical') then 2 else 1 end) then 'approval_missing'
  end;
