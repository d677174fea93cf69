-- Returns the persons whose approval of a contract counts: their signature of its document was
-- verified, and they may still act. plpgsql keeps the plan; every effect asks.
create or replace function writ_data.approvers(c writ_data.contract) returns text[]
language plpgsql stable
as $$
begin
  return (
    select coalesce(array_agg(x.by order by x.first_no), '{}')
    from (
      select r.by, min(r.review_no) as first_no
      from writ_data.contract_review r
      join writ_data.contract_verdict v
        on v.contract_id = r.contract_id and v.review_no = r.review_no and v.verdict = 'valid'
      join writ_data.principal p on p.principal_id = r.by and p.disabled_at is null
      where r.contract_id = c.contract_id and r.action = 'APPROVE' and r.hash = c.approval_hash
        and r.by <> c.created_by
      group by r.by
    ) x
  );
end $$;
