-- What the projector has not seen yet: runs whose logs have grown, each with its last snapshot and the events after it, behind every open transaction; and runs that wait for a missing event, with all that they have. One
-- projector at a time: it has the turn for some seconds, or until fn_run_project; another is told {"busy": true}. If it dies, the next begins where it did: projecting again does no harm.
-- Callers: writ_engine
create or replace function writ.fn_run_changes(p_projector text, p_limit integer default 500) returns json
  language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  v_now timestamptz := writ.now(); p writ_data.run_projector; v_horizon xid8 := pg_snapshot_xmin(pg_current_snapshot()); v_xid xid8; v_batch uuid; v_more boolean; v_runs uuid[]; v_upto integer[]; v_oldest timestamptz; v_answer text;
begin
  select * into p from writ_data.run_projector for update skip locked;
  if not found or p.holder <> p_projector and p.held_until > v_now then
    return '{"busy": true}';
  end if;
  -- A position ahead of the server's own transactions comes from another server, by dump and restore: its runs are here, and nothing is lost by beginning anew.
  if p.xid > pg_snapshot_xmax(pg_current_snapshot()) then
    p.xid := '0';
  end if;
  with batch as materialized (
    select b.xid, b.batch_id, b.at, b.run_ids, b.run_seqs from writ_data.event_batch b
    where (b.xid, b.batch_id) > (p.xid, p.batch_id) and b.xid < v_horizon and b.run_ids is not null order by b.xid, b.batch_id limit p_limit
  ), run as (
    select u.run, max(u.seq) as upto from batch cross join lateral unnest(batch.run_ids, batch.run_seqs) u(run, seq) group by u.run
    union all
    (select s.run_id, s.missing from writ_data.run_snapshot s where s.missing is not null order by s.run_id limit 100)
  )
  select (select array_agg(r.run) from run r), (select array_agg(r.upto) from run r), (select max(b.xid::text::numeric)::text::xid8 from batch b),
    (select b.batch_id from batch b order by b.xid desc, b.batch_id desc limit 1), (select count(*) = p_limit from batch), (select min(b.at) from batch b)
  into v_runs, v_upto, v_xid, v_batch, v_more, v_oldest;
  if v_runs is null then
    perform writ_data.clear_alert('PROJECTOR_LAG_HIGH', 'projector', p_projector, v_now); -- nothing is behind
    if p.holder = p_projector and p.held_until > v_now then
      update writ_data.run_projector set held_until = '-infinity';
    end if;
    return '{"runs": []}';
  end if;
  update writ_data.run_projector set holder = p_projector, held_until = v_now + interval '10 seconds', xid = p.xid;
  select string_agg(concat('{"run_id":"', d.run, '","upto":', coalesce(d.upto::text, 'null'), ',"last_seq":', coalesce(s.last_seq, 0), ',"stale":', (s.missing is not null)::text, ',"tenant":', to_json(r.tenant_id), ',"snapshot":', coalesce(s.snapshot::text, 'null'), ',"events":[', e.events, ']}'), ',')
  into v_answer
  from (select u.run, max(u.upto) as upto from unnest(v_runs, v_upto) u(run, upto) group by u.run) d
  cross join lateral (select x.tenant_id from writ_data.run x where x.run_id = d.run offset 0) r
  left join lateral (select * from writ_data.run_snapshot x where x.run_id = d.run offset 0) s on true
  cross join lateral (select string_agg(concat('[', x.run_seq, ',"', x.event_type, '","', x.step_id, '","', x.logical_attempt, '",', coalesce(x.engine_attempt::text, 'null'), ',', x.data, ',', round(date_part('epoch', x.at) * 1000)::bigint, ']'), ',' order by x.run_seq) as events
    from writ_data.run_event x where x.run_id = d.run and x.run_seq > coalesce(s.last_seq, 0) and (s.missing is not null or x.run_seq <= d.upto)) e;
  return concat('{"runs":[', v_answer, '],"xid":"', coalesce(v_xid, p.xid), '","batch_id":"', coalesce(v_batch, p.batch_id), '","more":', v_more::text, ',"lag_ms":', coalesce(round(date_part('epoch', v_now - v_oldest) * 1000), 0), '}')::json;
end $$;
