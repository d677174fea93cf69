-- Returns null if what was approved is what a contract says, or the code of what is wrong. Asked at
-- activation and at each effect. The contract is what its content says, the document that was
-- signed is kept, and as many persons as its policy demands have signed it; or the glass was
-- broken. An instance is its template with parameters within the bounds that were signed.
create or replace function writ_data.approved_still(c writ_data.contract) returns text
language plpgsql stable
as $$
declare
  t writ_data.contract;
  v_document jsonb;  -- what was signed
  v_needed integer;
begin
  if c.scope_hash <> sha256(convert_to(c.content, 'UTF8'))
    or c.steps <> c.content::jsonb -> 'steps'
    or to_jsonb(c.scope) <> c.content::jsonb -> 'scope'
    or c.template is distinct from c.content::jsonb -> 'template'
  then
    return 'approval_void';
  elsif c.template_id is not null then
    select * into t from writ_data.contract x where x.contract_id = c.template_id;
    if c.approval_hash is distinct from t.approval_hash
      or writ_data.approved_still(t) is not null
      or c.steps <> writ_data.filled(t.steps, c.template_params)
      or c.scope <> t.scope
      or exists (
        select from jsonb_each(coalesce(t.template -> 'params', '{}')) b
        where not writ_data.within(c.template_params -> b.key, b.value)
      )
    then
      return 'approval_void';
    end if;
    return null;
  end if;

  select d.document::jsonb
  into v_document
  from writ_data.contract_document d
  where d.contract_id = c.contract_id and d.hash = c.approval_hash;
  if v_document is null
    or v_document -> 'steps' <> c.steps
    or v_document -> 'scope' <> to_jsonb(c.scope)
    or v_document -> 'template' <> coalesce(c.template, 'null')
    or v_document -> 'pre_state' <> c.pre_state::jsonb
    or (v_document ->> 'round')::integer <> c.round
    or v_document ->> 'risk' <> c.risk_level
  then
    return 'approval_void';
  elsif c.glass_broken is not null then
    return null;
  end if;
  v_needed := (v_document #>> '{policy,quorum}')::integer;
  if cardinality(writ_data.approvers(c)) < v_needed then
    return 'approval_missing';
  end if;
  return null;
end $$;
