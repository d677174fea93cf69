-- Gives the projector its turn. The turn has the runs whose logs have grown, each with its last
-- snapshot and the later events of transactions that are older than every open one, and the runs
-- that wait for an event, with all their events.
-- Callers: writ_engine
-- Answers: {turn, runs: [{run_id, upto, last_seq, stale, tenant, snapshot, events}], more, lag_ms};
--          {runs: []} when nothing has changed; {busy: true} while another projector has the turn.
--          The turn lasts ten seconds, or until fn_run_project. If its holder dies, the next one
--          begins where it did.
-- Refuses: actor_required, tenant_forbidden (a login that is bound to a tenant).
-- Locks:   the projector's row, unless another transaction has it.
create or replace function writ.fn_run_changes(
  p_projector text,
  p_limit integer default 500
) returns json
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_now timestamptz := writ.now();
  v_limit integer := least(greatest(coalesce(p_limit, 500), 1), 1000);
  v_turn uuid := gen_random_uuid();
  v_at writ_data.run_projector;
  v_from record;                    -- bounds of what it reads
  v_xid xid8;                       -- of the last batch that it has read
  v_batch uuid;
  v_more boolean;
  v_runs uuid[];
  v_upto integer[];
  v_oldest timestamptz;
  v_most_events constant integer := 5000;
  v_most_of_run constant bigint := 4194304;     -- bytes of one log
  v_most_bytes constant bigint := 67108864;     -- bytes of the answer, but for its last run
  v_answer text;
  v_stale uuid[];
  v_full boolean;
begin
  if coalesce(btrim(p_projector), '') = '' or length(p_projector) > 200 then
    return writ_data.refusal('actor_required');
  elsif writ_data.caller_tenant() is not null then
    return writ_data.refusal('tenant_forbidden', 'The projector follows the runs of all tenants.');
  end if;
  select * into v_at from writ_data.run_projector for update skip locked;
  if not found or v_at.holder <> p_projector and v_at.held_until > v_now then
    return '{"busy": true}'::json;
  end if;

  select * into v_from from writ_data.record_bounds(v_at.position);
  loop
    with ahead as materialized (
      select b.xid, b.batch_id, b.at, b.run_ids, b.run_seqs
      from writ_data.event_batch b
      where (b.xid, b.batch_id) > ((v_from.start).xid, (v_from.start).fact)
        and b.xid < v_from.horizon
        and b.batch_id > (v_from.start).era and b.batch_id <= v_from.until
        and b.run_ids is not null
      order by b.xid, b.batch_id
      limit v_limit
    ), batch as materialized (
      -- One call may append ten thousand events: a turn ends with the call that makes it full.
      select c.* from (
        select a.*, sum(cardinality(a.run_ids)) over (order by a.xid, a.batch_id)
          - cardinality(a.run_ids) as earlier
        from ahead a) c
      where c.earlier < v_most_events
    ), run as (
      select u.run, max(u.seq) as upto
      from batch cross join lateral unnest(batch.run_ids, batch.run_seqs) u(run, seq)
      group by u.run
      union all
      (select s.run_id, s.missing from writ_data.run_snapshot s
        where s.missing is not null
        order by s.updated_at
        limit 100)
    )
    select (select array_agg(r.run) from run r), (select array_agg(r.upto) from run r),
      (select b.xid from batch b order by b.xid desc, b.batch_id desc limit 1),
      (select b.batch_id from batch b order by b.xid desc, b.batch_id desc limit 1),
      (select count(*) = v_limit from ahead)
        or (select count(*) from ahead) > (select count(*) from batch),
      (select min(b.at) from batch b)
    into v_runs, v_upto, v_xid, v_batch, v_more, v_oldest;
    exit when v_batch is not null or not v_from.closed;
    -- The rest of this era is about no runs.
    select * into v_from
    from writ_data.record_bounds(row(
      v_from.until, '0', '00000000-0000-0000-0000-000000000000'
    )::writ_data.record_position);
  end loop;
  if v_runs is null then
    -- Nothing can be given. An open transaction may hold back what is behind.
    perform writ_data.watch_projector(p_projector, v_now);
    if v_at.holder = p_projector and v_at.held_until > v_now then
      update writ_data.run_projector set held_until = '-infinity', turn = null;
    end if;
    return '{"runs": []}'::json;
  end if;

  update writ_data.run_projector
  set holder = p_projector, held_until = v_now + interval '10 seconds', position = v_from.start,
    turn = v_turn, turn_end = case
      when v_batch is null then v_from.start
      else row(
        (v_from.start).era, v_xid, writ_data.fact_id(v_batch, 16777215)
      )::writ_data.record_position
    end,
    oldest = v_oldest;

  -- A run with a very long log, or a large snapshot, is given in parts: as much of its log as fits,
  -- and as many runs as fit. fn_run_project marks the rest, and it comes with the next turns.
  with part as materialized (
    select d.run, s.updated_at, s.missing is not null as stale,
      concat('{"run_id":"', d.run,
        '","upto":', coalesce(case when e.cut then e.last else d.upto end::text, 'null'),
        ',"last_seq":', coalesce(s.last_seq, 0), ',"stale":', (s.missing is not null)::text,
        ',"tenant":', to_json(r.tenant_id), ',"snapshot":', coalesce(s.snapshot::text, 'null'),
        ',"events":[', e.events, ']}') as text
    from (
      select u.run, max(u.upto) as upto from unnest(v_runs, v_upto) u(run, upto) group by u.run) d
    cross join lateral (
      select x.tenant_id from writ_data.run x where x.run_id = d.run offset 0) r
    left join lateral (
      select * from writ_data.run_snapshot x where x.run_id = d.run offset 0) s on true
    cross join lateral (
      select string_agg(z.event, ',' order by z.run_seq) filter (where z.before < v_most_of_run)
          as events,
        max(z.run_seq) filter (where z.before < v_most_of_run) as last,
        count(*) = v_most_events or bool_or(z.before >= v_most_of_run) as cut
      from (
        select y.run_seq, y.event,
          sum(octet_length(y.event)) over (order by y.run_seq) - octet_length(y.event) as before
        from (
          select x.run_seq, concat('[', x.run_seq, ',"', x.event_type, '","', x.step_id, '","',
            x.logical_attempt, '",', coalesce(x.engine_attempt::text, 'null'), ',', x.data, ',',
            round(date_part('epoch', x.at) * 1000)::bigint, ']') as event
          from writ_data.run_event x
          where x.run_id = d.run and x.run_seq > coalesce(s.last_seq, 0)
            and (s.missing is not null or x.run_seq <= d.upto)
          order by x.run_seq
          limit v_most_events) y) z) e
  ), given as (
    select p.*, sum(octet_length(p.text)) over (order by p.updated_at nulls first, p.run)
      - octet_length(p.text) as before
    from part p
  )
  select string_agg(g.text, ',') filter (where g.before < v_most_bytes),
    array_agg(g.run) filter (where g.before < v_most_bytes and g.stale),
    count(*) >= 100 or bool_or(g.before >= v_most_bytes)
  into v_answer, v_stale, v_full
  from given g;
  -- Waiting runs take turns.
  if v_full then
    update writ_data.run_snapshot set updated_at = v_now where run_id = any (v_stale);
  end if;
  return concat('{"turn":"', v_turn, '","runs":[', v_answer, '],"more":',
    (v_more or v_from.closed)::text,
    ',"lag_ms":', coalesce(round(date_part('epoch', v_now - v_oldest) * 1000), 0), '}')::json;
end $$;
