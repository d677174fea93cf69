-- Stores an applier's verdicts on signatures of contracts, and commits the queue jobs that asked
-- for them. A contract is approved when as many signatures are valid as its policy and the
-- applier's trust file demand.
-- Callers: writ_applier
-- p_items: [{job: the queue job, token: of its lease, trust: 'database' or the SHA-256 of the trust
--          file, quorum: what the file demands for the contract, verdicts: [{review_no, verdict:
--          valid or wrong, why}], open: true if others wait for a key; then the job goes on}].
-- Answers: [{contract_id, status} or {reason, detail}], in order. A verdict is written once. A
--          wrong signature leaves a receipt. An unexpected error of one item (invalid_argument)
--          does not affect the others.
-- Refuses: actor_required, invalid_argument; of an item: lease_lost, job_not_started,
--          job_not_found.
-- Locks:   the leases in key-share mode, then the contracts in the order of their ids.
create or replace function writ.fn_signatures_verified(p_items jsonb, p_actor text) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_item jsonb;
  v_answers jsonb := '[]'::jsonb;
begin
  if jsonb_typeof(p_items) is distinct from 'array'
    or jsonb_array_length(p_items) not between 1 and 1000
  then
    return writ_data.refusal('invalid_argument', 'One to a thousand items are stored at once.');
  elsif length(coalesce(btrim(p_actor), '')) not between 1 and 200 then
    return writ_data.refusal('actor_required', 'An actor has 1 to 200 characters.');
  end if;

  begin
    return writ_data.store_verdicts(p_items, p_actor);
  exception when others then
    -- Deadlocks, missing resources and a server that stops concern every item: the caller repeats.
    if writ_data.is_transient(sqlstate) then
      raise;
    elsif jsonb_array_length(p_items) = 1 and left(sqlstate, 2) in ('22', '23') then
      return writ_data.refusal('invalid_argument', left(sqlerrm, 1000));
    elsif jsonb_array_length(p_items) = 1 then
      raise;
    end if;
  end;

  -- One item is at fault. Trying them one by one shows which.
  for v_item in select jsonb_array_elements(p_items) loop
    begin
      v_answers := v_answers
        || writ_data.store_verdicts(jsonb_build_array(v_item), p_actor);
    exception when others then
      if writ_data.is_transient(sqlstate) then
        raise;
      end if;
      v_answers := v_answers || jsonb_build_object(
        'reason', 'invalid_argument', 'detail', left(sqlerrm, 1000)
      );
    end;
  end loop;
  return v_answers;
end $$;
