-- Activates approved contracts, and makes exactly one governance job for each.
-- Callers: writ_principal, writ_applier, writ_server
-- p_items: 1 to 1000 of {contract, job: the new job's id, break_glass: why, document, signature,
--          scheme}. With break_glass a person with that
--          right activates a contract with too few approvals, and signs the document
--          (break glass 1). That raises an alert and opens an incident; if the activation is
--          refused, nothing of it stays.
-- Answers: [{contract_id, job_id, run_id} or a refusal], in order. The gate activates or refuses
--          each contract separately. A repeated call answers the existing job. A contract whose
--          content, policy or pre-state differs from the approved one becomes FAILED, and a new
--          draft replaces it. A freeze, a hold of another contract, and soaks that end after the
--          window refuse it and leave it APPROVED.
-- Refuses: invalid_contract.
-- Locks:   the contracts in the order of their ids, then their targets' holds.
create or replace function writ.fn_contracts_activate(p_key text, p_items jsonb) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_answers jsonb[];
  v_n integer;
begin
  if jsonb_typeof(p_items) is distinct from 'array'
    or jsonb_array_length(p_items) not between 1 and 1000
  then
    return writ_data.refusal(
      'invalid_contract', 'One to a thousand contracts are activated at once.'
    );
  end if;

  -- Breaking the glass writes rows that must not stay if the activation is refused, so each such
  -- item runs alone. A refusal that comes before that has broken nothing, and may leave a receipt.
  if not exists (
    select from jsonb_array_elements(p_items) i where i ->> 'break_glass' is not null
  ) then
    begin
      return to_jsonb(writ_data.activate_items(p_key, p_items));
    exception when others then
      if writ_data.is_transient(sqlstate) then
        raise;
      end if;
    end;
  end if;

  -- In the order of their ids, as above, to prevent deadlocks between calls.
  v_answers := array_fill(null::jsonb, array[jsonb_array_length(p_items)]);
  for v_n in
    select x.n::integer
    from jsonb_array_elements(p_items) with ordinality x(item, n)
    order by writ_data.uuid_in(x.item, 'contract'), x.n
  loop
    begin
      v_answers[v_n] := (
        writ_data.activate_items(p_key, jsonb_build_array(p_items -> (v_n - 1)))
      )[1];
      if v_answers[v_n] ? 'refused' and exists (
        select from writ_data.contract c
        where c.contract_id = writ_data.uuid_in(p_items -> (v_n - 1), 'contract')
          and c.glass_broken is not null and c.job_id is null
      ) then
        raise exception using errcode = 'WR002', message = 'the glass stays whole';
      end if;
    exception
      when sqlstate 'WR002' then
        null; -- The refusal stands, and nothing else of it.
      when others then
        if writ_data.is_transient(sqlstate) then
          raise;
        end if;
        v_answers[v_n] := writ_data.refusal('invalid_contract', left(sqlerrm, 1000));
    end;
  end loop;
  return to_jsonb(v_answers);
end $$;
