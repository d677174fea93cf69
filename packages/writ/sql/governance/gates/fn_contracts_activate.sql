-- Activates approved contracts: exactly one governance job comes of each.
-- Callers: writ_principal, writ_applier, writ_server
-- p_items: 1 to 1000 of {contract, job: the id that it is to have, read: {slot: value} outside the
--          database, break_glass: why, signature: of glass_hash, in hexadecimal}. With break_glass a
--          person with that right activates a contract that not enough have approved; that raises
--          an alert and stands in the receipts.
-- Answers: [{contract_id, job_id, run_id} or a refusal], in order. Each is activated or refused by
--          itself. Repeated after a lost answer, it answers the job that exists. A contract whose
--          content, policy or pre-state is no longer as approved is FAILED, and a new draft
--          replaces it.
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

  -- Breaking the glass leaves marks that must not stay if the activation is refused, so each such
  -- item goes by itself.
  if not jsonb_path_exists(p_items, '$[*] ? (@.break_glass != null)') then
    begin
      return to_jsonb(writ_data.activate_items(p_key, p_items));
    exception when others then
      if left(sqlstate, 2) in ('40', '53', '57', '58') then
        raise;
      end if;
    end;
  end if;

  -- In the order of their ids, as above, so that calls do not wait for each other in a circle.
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
      if v_answers[v_n] ? 'refused' and p_items -> (v_n - 1) ? 'break_glass'
        and v_answers[v_n] ->> 'reason' in ('changes_frozen', 'target_held', 'target_not_read')
      then
        raise exception using errcode = 'WR002', message = 'the glass stays whole';
      end if;
    exception
      when sqlstate 'WR002' then
        null; -- The refusal stands, and nothing else of it.
      when others then
        if left(sqlstate, 2) in ('40', '53', '57', '58') then
          raise;
        end if;
        v_answers[v_n] := writ_data.refusal('invalid_contract', left(sqlerrm, 1000));
    end;
  end loop;
  return to_jsonb(v_answers);
end $$;
