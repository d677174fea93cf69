-- Does steps of governance jobs in one transaction, each with its effect, event, receipt and
-- successors. A queue job does one step, or several consecutive steps inside the database.
-- Callers: writ_applier
-- p_items: [{job: the queue job, token: of its lease, read: {slot: value} outside the database,
--          trust: what the applier has judged the signatures with, 'database' or the SHA-256 of its
--          trust file, for the receipts}].
-- Answers: [{done: [...]} or {reason, detail}], in order. A repeated call answers {done: []} for a
--          step that was done before.
-- Refuses: invalid_argument. The gate does or refuses each item separately; an unexpected error of
--          one item does not affect the others.
-- Locks:   the leases in key-share mode, then the governance jobs, their targets and runs.
create or replace function writ.fn_changes_apply(p_items jsonb, p_actor text) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_item jsonb;
  v_answers jsonb := '[]'::jsonb;
begin
  if jsonb_typeof(p_items) is distinct from 'array'
    or jsonb_array_length(p_items) not between 1 and 1000
  then
    return writ_data.refusal('invalid_argument', 'One to a thousand items are applied at once.');
  elsif length(coalesce(btrim(p_actor), '')) not between 1 and 200 then
    return writ_data.refusal('actor_required', 'An actor has 1 to 200 characters.');
  end if;

  begin
    return writ_data.apply_items(p_items, p_actor);
  exception when others then
    -- Deadlocks, missing resources and a server that stops concern every item: the caller repeats.
    if writ_data.is_transient(sqlstate) or jsonb_array_length(p_items) = 1 then
      raise;
    end if;
  end;

  -- One item is at fault. Trying them one by one shows which.
  for v_item in select jsonb_array_elements(p_items) loop
    begin
      v_answers := v_answers || writ_data.apply_items(jsonb_build_array(v_item), p_actor);
    exception when others then
      if writ_data.is_transient(sqlstate) then
        raise;
      end if;
      v_answers := v_answers || jsonb_build_object(
        'reason', 'invalid_contract', 'detail', left(sqlerrm, 1000)
      );
    end;
  end loop;
  return v_answers;
end $$;
