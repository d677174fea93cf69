-- The body of fn_contracts_activate. If it raises, the gate tries again item by item.
create or replace function writ_data.activate_items(p_key text, p_items jsonb) returns jsonb[]
language plpgsql
as $$
declare
  v_now timestamptz := writ.now();
  i record;
  r record;
  v_actor text;
  v_answers jsonb[] := array_fill(null::jsonb, array[jsonb_array_length(p_items)]);
  v_made jsonb[];

  -- Those that are ready, as parallel arrays.
  v_ids uuid[] := '{}'::uuid[];
  v_jobs uuid[] := '{}'::uuid[];
  v_places integer[] := '{}'::integer[];
begin
  for i in
    select
      x.n::integer as n, writ_data.uuid_in(x.item, 'contract') as contract,
      coalesce(writ_data.uuid_in(x.item, 'job'), writ_data.uuidv7()) as job,
      case when x.item ->> 'break_glass' is not null then jsonb_build_object(
        'reason', x.item -> 'break_glass', 'document', x.item -> 'document',
        'signature', x.item -> 'signature', 'scheme', x.item -> 'scheme'
      ) end as glass
    from jsonb_array_elements(p_items) with ordinality x(item, n)
    order by 2, 1
  loop
    if i.contract = any (v_ids) then
      v_answers[i.n] := writ_data.refusal('already_activated', i.contract::text);
      continue;
    end if;
    r := writ_data.ready_to_activate(p_key, i.contract, i.job, i.glass, v_now);
    if r.answer is not null then
      v_answers[i.n] := r.answer;
    else
      v_actor := r.actor;
      v_ids := v_ids || i.contract;
      v_jobs := v_jobs || i.job;
      v_places := v_places || i.n;
    end if;
  end loop;

  if v_ids <> '{}' then
    v_made := writ_data.activate_contracts(v_ids, v_jobs, v_actor, v_now);
    for n in 1 .. cardinality(v_places) loop
      v_answers[v_places[n]] := v_made[n];
    end loop;
  end if;
  return v_answers;
end $$;
