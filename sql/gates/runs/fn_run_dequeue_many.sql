-- Starts runs that were queued, as far as their tenants have room, the most urgent and then the oldest first, and those whose time has come. Any number of callers, at any time: a run is started in the transaction in which it stops being
-- queued, so it is started once; what another is starting at this moment is passed over. Answers {"runs": [run id, ...], "next_ms": until the next is due}.
-- Callers: writ_engine
create or replace function writ.fn_run_dequeue_many(p_actor text, p_limit integer default 100) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  v_now timestamptz := writ.now(); t record; a writ_data.admission; v_room integer; v_runs uuid[]; v_started uuid[] := '{}'; v_left integer := least(greatest(coalesce(p_limit, 100), 1), 1000); v_next timestamptz;
begin
  if coalesce(btrim(p_actor), '') = '' then
    return writ_data.refusal('actor_required');
  elsif not coalesce((writ_data.setting('queue.job_substrate.enabled'))::boolean, false) then
    return writ_data.refusal('job_substrate_disabled');
  end if;
  for t in
    select distinct r.tenant_id from writ_data.run r where r.status = 'PENDING' and r.engine = 'native' and writ_data.visible(r.tenant_id)
  loop
    exit when v_left = 0;
    -- Whoever starts runs of this tenant at this moment counts them for all.
    select x.* into a from writ_data.admission x where x.tenant_id in (t.tenant_id, '*') order by x.tenant_id = '*' limit 1;
    if found then
      perform from writ_data.admission x where x.tenant_id = a.tenant_id for update skip locked;
      continue when not found;
      v_room := greatest(0, a.max_running - (select count(*) from (select from writ_data.run r where r.tenant_id = t.tenant_id and r.status in ('RUNNING', 'PAUSED') limit a.max_running) x));
    else
      v_room := v_left;
    end if;
    with next as materialized (
      select r.run_id from writ_data.run r where r.tenant_id = t.tenant_id and r.status = 'PENDING' and r.engine = 'native' and (r.start_after is null or r.start_after <= v_now)
      order by r.start_after is null, r.priority desc, r.run_id limit greatest(least(v_room, v_left), (select count(*) from (select from writ_data.run d where d.tenant_id = t.tenant_id and d.status = 'PENDING' and d.engine = 'native' and d.start_after <= v_now limit v_left) y))
      for no key update skip locked
    ), started as (
      update writ_data.run r set status = 'RUNNING', start_after = null, moved_at = v_now from next n where r.run_id = n.run_id returning r.run_id
    )
    select array_agg(s.run_id order by s.run_id) into v_runs from started s;
    if v_runs is not null then
      perform writ_data.begin_runs(v_runs, 'fn_run_dequeue', p_actor, v_now);
      v_started := v_started || v_runs; v_left := v_left - cardinality(v_runs);
    end if;
  end loop;
  select min(r.start_after) into v_next from writ_data.run r where r.status = 'PENDING' and r.engine = 'native' and r.start_after is not null;
  return jsonb_build_object('runs', to_jsonb(v_started), 'next_ms', case when v_next is not null then ceil(date_part('epoch', greatest(v_next, v_now) - v_now) * 1000) end);
end $$;
