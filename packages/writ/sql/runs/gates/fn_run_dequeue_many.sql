-- Starts queued runs whose tenants have room, and delayed runs that are due.
-- Callers: writ_engine
-- Answers: {runs: [run id, ...], failed: those that could not begin, skipped: those that another
--          session held, next_ms: until the next one is due}. The most urgent and then the oldest
--          run comes first. Any number of sessions may call it at any time. A run starts in
--          the transaction in which it stops being queued, so it starts once.
-- Refuses: actor_required, job_substrate_disabled.
-- Raises:  25000 (require_read_committed).
-- Locks:   the admission rule of each tenant and the runs, where nobody else has them. A run that
--          cannot begin is cancelled with an alert, RUN_STUCK; the others start.
create or replace function writ.fn_run_dequeue_many(
  p_actor text,
  p_limit integer default 100
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_now timestamptz := writ.now();
  v_only text := writ_data.caller_tenant();
  v_left integer := least(greatest(coalesce(p_limit, 100), 1), 1000);
  v_rule writ_data.admission;
  v_room integer;
  v_most bigint;            -- how many runs of the tenant start now
  v_first uuid[];           -- the first of those that wait
  v_runs uuid[];            -- those that could be locked
  v_going uuid[];
  v_started uuid[] := '{}'::uuid[];
  v_failed uuid[] := '{}'::uuid[];
  v_skipped uuid[] := '{}'::uuid[];
  v_next timestamptz;
  t record;
begin
  perform writ_data.require_read_committed();
  if coalesce(btrim(p_actor), '') = '' or length(p_actor) > 200 then
    return writ_data.refusal('actor_required');
  elsif not coalesce((writ_data.setting('queue.job_substrate.enabled'))::boolean, false) then
    return writ_data.refusal('job_substrate_disabled');
  end if;

  for t in
    select distinct r.tenant_id from writ_data.run r
    where r.status = 'PENDING' and r.engine = 'native'
      and r.tenant_id = coalesce(v_only, r.tenant_id)
  loop
    exit when v_left = 0;
    -- A session that starts runs of this tenant now holds the rule and counts all of them.
    select x.* into v_rule from writ_data.admission x
    where x.tenant_id in (t.tenant_id, '*')
    order by x.tenant_id = '*' limit 1;
    if found then
      perform from writ_data.admission x where x.tenant_id = v_rule.tenant_id
      for update skip locked;
      continue when not found;
      v_room := greatest(0, v_rule.max_running - (
        select count(*) from (
          select from writ_data.run r
          where r.tenant_id = t.tenant_id and r.status in ('RUNNING', 'PAUSED')
          limit v_rule.max_running) x));
    else
      v_room := v_left;
    end if;

    v_most := greatest(least(v_room, v_left), (
      select count(*) from (
        select from writ_data.run d
        where d.tenant_id = t.tenant_id and d.status = 'PENDING' and d.engine = 'native'
          and d.start_after <= v_now
        limit v_left) y));
    v_first := array(
      select r.run_id from writ_data.run r
      where r.tenant_id = t.tenant_id and r.status = 'PENDING' and r.engine = 'native'
        and (r.start_after is null or r.start_after <= v_now)
      order by r.start_after is null, r.priority desc, r.run_id
      limit v_most);
    v_runs := array(
      select r.run_id from writ_data.run r
      where r.tenant_id = t.tenant_id and r.status = 'PENDING' and r.engine = 'native'
        and (r.start_after is null or r.start_after <= v_now)
      order by r.start_after is null, r.priority desc, r.run_id
      limit v_most
      for no key update skip locked);
    v_skipped := v_skipped || array(
      select r from unnest(v_first) r where r <> all (v_runs));
    if v_runs <> '{}' then
      v_going := writ_data.start_queued(v_runs, p_actor, v_now);
      v_started := v_started || v_going;
      v_failed := v_failed || array(select r from unnest(v_runs) r where r <> all (v_going));
      v_left := greatest(0, v_left - cardinality(v_runs));
    end if;
  end loop;

  select min(r.start_after) into v_next
  from writ_data.run r
  where r.status = 'PENDING' and r.engine = 'native' and r.start_after is not null
    and r.tenant_id = coalesce(v_only, r.tenant_id);
  return jsonb_build_object('runs', to_jsonb(v_started), 'failed', to_jsonb(v_failed),
    'skipped', to_jsonb(v_skipped), 'next_ms', case when v_next is not null then
      ceil(date_part('epoch', greatest(v_next, v_now) - v_now) * 1000)
    end);
end $$;
