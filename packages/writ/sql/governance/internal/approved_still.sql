-- Whether what was approved is what a contract says: null, or the code of what is wrong. Asked at activation and at each effect: content, policy and pre-state are those that were signed, and enough persons have signed them; or the glass was broken. An instance is
-- its template with parameters within the bounds that were signed.
create or replace function writ_data.approved_still(c writ_data.contract) returns text language plpgsql stable as $$
declare
  t writ_data.contract; v_needed integer;
begin
  if c.scope_hash <> sha256(convert_to(c.content, 'UTF8')) or c.steps <> c.content::jsonb -> 'steps' or to_jsonb(c.scope) <> c.content::jsonb -> 'scope' or c.template is distinct from c.content::jsonb -> 'template'
    or c.approval_hash is distinct from writ_data.approval_hash(c.contract_id, c.content, c.policy_version, c.pre_state) then
    return 'approval_void';
  elsif c.glass_broken is not null then
    return null;
  elsif c.template_id is not null then
    select * into t from writ_data.contract x where x.contract_id = c.template_id;
    if writ_data.approved_still(t) is not null or c.steps <> writ_data.filled(t.steps, c.template_params) or c.scope <> t.scope
      or exists (select from jsonb_each(coalesce(t.template -> 'params', '{}')) b where not writ_data.within(c.template_params -> b.key, b.value)) then
      return 'approval_void';
    end if;
    return null;
  end if;
  v_needed := coalesce((select (p.document #>> array['approvals', c.risk_level])::integer from writ_data.governance_policy p where p.tenant_id = c.tenant_id and p.version = c.policy_version), case when c.risk_level in ('high', 'critical') then 2 else 1 end);
  if (select count(*) from writ_data.contract_review r where r.contract_id = c.contract_id and r.action = 'APPROVE' and r.hash = c.approval_hash and r.by <> c.created_by) < v_needed then
    return 'approval_missing';
  end if;
  return null;
end $$;
