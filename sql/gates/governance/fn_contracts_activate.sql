-- Activates approved contracts: exactly one governance job comes of each. p_items: [{contract, job: the id that it is to have, read: {slot: value} of places outside the database, break_glass: why, signature: of glass_hash, in hexadecimal, which workers check as they check those of approvals}]. What is no longer as it was approved (content, policy, pre-state) makes a contract FAILED, with
-- a new draft in its place. break_glass: a person with that right activates a contract that has not been approved by enough; it is alerted, and stands in the receipts. Each is activated or refused by itself; sent again after an answer that was lost, what was done is done.
-- Answers [{contract_id, job_id, run_id} or a refusal], in order.
-- Callers: writ_principal, writ_applier, writ_server
create or replace function writ.fn_contracts_activate(p_key text, p_items jsonb) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  v_now timestamptz := writ.now(); i record; r record; v_actor text; v_ids uuid[] := '{}'; v_jobs uuid[] := '{}'; v_reads jsonb[] := '{}'; v_places integer[] := '{}'; v_made jsonb[]; v_answers jsonb[];
begin
  if jsonb_typeof(p_items) is distinct from 'array' or jsonb_array_length(p_items) not between 1 and 1000 then
    return writ_data.refusal('invalid_contract', 'One to a thousand contracts are activated at once.');
  end if;
  v_answers := array_fill(null::jsonb, array[jsonb_array_length(p_items)]);
  for i in
    select x.n::integer as n, (x.item ->> 'contract')::uuid as contract, coalesce((x.item ->> 'job')::uuid, writ_data.uuidv7()) as job, coalesce(x.item -> 'read', '{}') as read, x.item ->> 'break_glass' as break_glass, x.item ->> 'signature' as signature from jsonb_array_elements(p_items) with ordinality x(item, n) order by 2, 1
  loop
    if i.contract = any (v_ids) then
      v_answers[i.n] := writ_data.refusal('already_activated', i.contract::text);
      continue;
    end if;
    r := writ_data.ready_to_activate(p_key, i.contract, i.job, i.read, i.break_glass, i.signature, v_now);
    if r.answer is not null then
      v_answers[i.n] := r.answer;
    else
      v_actor := r.actor; v_ids := v_ids || i.contract; v_jobs := v_jobs || i.job; v_reads := v_reads || i.read; v_places := v_places || i.n;
    end if;
  end loop;
  if v_ids <> '{}' then
    v_made := writ_data.activate_contracts(v_ids, v_jobs, v_reads, v_actor, v_now);
    for n in 1 .. cardinality(v_places) loop
      v_answers[v_places[n]] := v_made[n];
    end loop;
  end if;
  return to_jsonb(v_answers);
exception when data_exception then
  return writ_data.refusal('invalid_contract', sqlerrm);
end $$;
