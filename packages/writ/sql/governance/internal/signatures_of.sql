-- Returns the signatures of a contract's document (p_action: APPROVE or BREAK_GLASS) for an applier
-- that verifies them: {review_no, by, scheme, signature, public_key, verdict, active, rights,
-- tenant}. active: the principal is a person that may still act; with rights and tenant, what the
-- database knows of it. plpgsql keeps the plan; every governed change asks once.
create or replace function writ_data.signatures_of(
  p_contract uuid,
  p_hash bytea,
  p_action text
) returns jsonb
language plpgsql stable
as $$
begin
  return (
    select coalesce(
      jsonb_agg(
        jsonb_build_object(
          'review_no', r.review_no, 'by', r.by, 'scheme', r.scheme,
          'signature', encode(r.signature, 'hex'), 'public_key', encode(r.public_key, 'hex'),
          'verdict', v.verdict, 'active', p.kind = 'person' and p.disabled_at is null,
          'rights', to_jsonb(p.rights), 'tenant', p.tenant_id
        ) order by r.review_no
      ),
      '[]'
    )
    from writ_data.contract_review r
    left join writ_data.contract_verdict v
      on v.contract_id = r.contract_id and v.review_no = r.review_no
    left join writ_data.principal p on p.principal_id = r.by
    where r.contract_id = p_contract and r.hash = p_hash and r.action = p_action
      and v.verdict is distinct from 'wrong'
  );
end $$;
