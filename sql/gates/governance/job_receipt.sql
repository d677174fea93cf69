-- internal
-- A receipt in the stream of a governance job that has not come to its end, whose row the caller has locked. Answers its number.
create or replace function writ_data.job_receipt(p_job uuid, p_status text, p_reason text, p_context jsonb, p_at timestamptz) returns bigint language plpgsql as $$
declare
  j record;
begin
  update writ_data.governance_job set receipts = receipts + 1 where job_id = p_job returning tenant_id, contract_id, receipts into j;
  return writ_data.governance_receipt(j.tenant_id, concat('governance_job:', p_job), j.receipts, p_status, p_reason, p_context || jsonb_build_object('job_id', p_job, 'contract_id', j.contract_id), p_at);
end $$;
