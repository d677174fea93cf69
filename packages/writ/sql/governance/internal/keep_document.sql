-- Keeps the bytes of a document that was signed, and makes it the one that signatures of a contract
-- count for. p_now: the same as the rows have it. Answers null, or the refusal: the first signature
-- of a round says which bytes the others of that round sign. The caller has compared document and
-- rows, and locked the contract.
create or replace function writ_data.keep_document(
  c writ_data.contract,
  p_document text,
  p_now jsonb,
  p_at timestamptz
) returns jsonb
language plpgsql
as $$
declare
  v_hash bytea := sha256(convert_to(p_document, 'UTF8'));
  v_round integer := (p_now ->> 'round')::integer;
begin
  if c.approval_hash is not null and c.round = v_round then
    return case when c.approval_hash <> v_hash then writ_data.refusal(
      'approval_void', format('Round %s of its approval has another document.', v_round)
    ) end;
  end if;
  insert into writ_data.contract_document (contract_id, hash, document, kept_at)
  values (c.contract_id, v_hash, p_document, p_at)
  on conflict do nothing; -- the signatures that it had were wrong
  update writ_data.contract
  set
    approval_hash = v_hash,
    round = v_round,
    pre_state = (p_now -> 'pre_state')::text,
    policy_version = (p_now #>> '{policy,version}')::integer
  where contract_id = c.contract_id;
  return null;
end $$;
