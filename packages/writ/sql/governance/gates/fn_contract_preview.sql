-- Answers every field of the document that a signature of a contract signs. The client shows these
-- fields, makes the document's bytes of them, and signs those. Writes nothing and takes no lock.
-- Callers: writ_principal, writ_server
-- Answers: {contract_id, status, document, approvals_needed, approvals, unverified, outside}.
--          Of a contract that can still be approved, document is what a signature made now signs;
--          later it is what was signed. Its not_after is null until the contract is ELIGIBLE and
--          an applier has read every value outside the database, and it cannot be signed before.
--          approvals: who has approved this document, verified; unverified: whose signature no
--          applier has looked at yet. outside: of each place outside the database, when an applier
--          has read it last, why it failed if it did, and the last request (as
--          fn_contract_read_request answers it).
-- Refuses: not_authenticated, contract_not_found, pre_value_conflict.
create or replace function writ.fn_contract_preview(
  p_key text,
  p_contract_id uuid
) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_who writ_data.principal;
  c writ_data.contract;
  v_open boolean;       -- it can still be approved
  v_state jsonb := '{}'::jsonb; -- of a template, which is approved for a range of states
  v_wrong jsonb;
  v_document jsonb;
  v_signed boolean;     -- others have signed this document
begin
  select * into v_who from writ_data.principal_of(p_key);
  if v_who.principal_id is null then
    return writ_data.refusal('not_authenticated');
  end if;
  select * into c
  from writ_data.contract
  where contract_id = p_contract_id and writ_data.visible(tenant_id)
    and tenant_id = coalesce(v_who.tenant_id, tenant_id);
  if not found then
    return writ_data.refusal('contract_not_found', p_contract_id::text);
  end if;
  v_open := c.status in ('DRAFT', 'VALIDATED', 'ELIGIBLE');

  if v_open then
    if c.template is null then
      v_state := writ_data.state_of(c.tenant_id, c.steps, writ_data.values_read(c));
      v_wrong := writ_data.wrong_with_state(c, v_state);
      if v_wrong ->> 'reason' <> 'target_not_read' then
        return v_wrong;
      end if;
    end if;
    v_document := writ_data.next_document(c, v_state);
    if v_wrong is not null then
      v_document := v_document || '{"not_after": null}';
    end if;
  else
    select d.document::jsonb
    into v_document
    from writ_data.contract_document d
    where d.contract_id = c.contract_id and d.hash = c.approval_hash;
    v_document := coalesce(
      v_document, writ_data.next_document(c, coalesce(c.pre_state, '{}')::jsonb)
    );
  end if;
  v_signed := c.approval_hash is not null and (v_document ->> 'round')::integer = c.round;

  return jsonb_build_object(
    'contract_id', c.contract_id,
    'status', c.status,
    'document', v_document,
    'approvals_needed', v_document #> '{policy,quorum}',
    'approvals', to_jsonb(case when v_signed then writ_data.approvers(c) else '{}' end),
    'unverified', coalesce(
      (
        select jsonb_agg(distinct r.by)
        from writ_data.contract_review r
        left join writ_data.contract_verdict v
          on v.contract_id = r.contract_id and v.review_no = r.review_no
        where v_signed and r.contract_id = c.contract_id and r.action = 'APPROVE'
          and r.hash = c.approval_hash and v.verdict is null
      ),
      '[]'
    ),
    'outside', writ_data.reads_of(c)
  );
end $$;
