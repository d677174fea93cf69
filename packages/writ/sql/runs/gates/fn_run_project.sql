-- Takes what the projector made of its turn, and moves its position to the end of that turn.
-- Callers: writ_engine
-- p_snapshots: snapshots of runs, as src/runs/snapshot.ts has them.
-- Answers: {projected, skipped}. A snapshot is stored if it is of a run that is there, names its
--          tenant, is newer than the stored one, has no event missing and is not ahead of the log,
--          and has the status that the events say. Its other words are the projector's; `writ runs
--          history` reduces the log again and compares. A run of this turn without such a snapshot
--          is marked stale and comes again with every turn, with an alert: PROJECTOR_GAP_DETECTED
--          if an event is missing in its log, otherwise PROJECTOR_RUN_SKIPPED. So is one whose
--          snapshot cannot be written. The others are stored.
--          A snapshot that counts more events that no rule allows than the one before raises
--          RUN_INCONSISTENT.
-- Refuses: not_the_projector (another has the turn), invalid_argument.
-- Locks:   the projector's row.
create or replace function writ.fn_run_project(
  p_turn uuid,
  p_snapshots json
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_now timestamptz := writ.now();
  v_most double precision := (writ_data.setting('runs.projector.lag_alert_sec'))::double precision;
  v_at writ_data.run_projector;
  v_stored uuid[];
  v_skipped integer := 0;
  -- how a snapshot ends that counts them
  v_ignored constant text := '"inconsistent":([0-9]{1,9})[}]$';
  g record;
begin
  if coalesce(json_typeof(p_snapshots), '') <> 'array' then
    return writ_data.refusal('invalid_argument', 'p_snapshots is an array.');
  elsif json_array_length(p_snapshots) > 100000 then
    -- One call starts up to 10,000 runs, and a turn may end with several such calls.
    return writ_data.refusal('invalid_argument', 'A turn has at most 100,000 snapshots.');
  end if;
  select * into v_at from writ_data.run_projector for update;
  if v_at.turn is distinct from p_turn or p_turn is null then
    return writ_data.refusal('not_the_projector');
  end if;

  -- Events that no rule allows are ignored by the snapshot, which counts them as its last field.
  if position('"inconsistent":' in p_snapshots::text) > 0 then
    for g in
      select c.run_id, c.tenant_id,
        substring(right(c.snapshot::text, 40) from v_ignored)::integer as ignored
      from writ_data.checked_snapshots(p_snapshots) c
      left join writ_data.run_snapshot s on s.run_id = c.run_id
      where substring(right(c.snapshot::text, 40) from v_ignored)::integer
        > coalesce(substring(right(s.snapshot::text, 40) from v_ignored)::integer, 0)
    loop
      perform writ_data.raise_alert('RUN_INCONSISTENT', 'P2', g.tenant_id, 'run/' || g.run_id,
        jsonb_build_object('events', g.ignored), v_at.holder, v_now);
    end loop;
  end if;

  v_stored := writ_data.store_snapshots(p_snapshots, v_now);
  perform writ_data.clear_alert(a.code, a.subject, v_at.holder, v_now)
  from writ_data.alert a
  where a.cleared_at is null
    and a.code in ('PROJECTOR_GAP_DETECTED', 'PROJECTOR_RUN_SKIPPED')
    and a.subject in (select 'run/' || r from unnest(v_stored) r);

  -- Runs of this turn that are not up to date now. One that has come further was given in parts.
  for g in
    select r.run_id, r.tenant_id, coalesce(s.last_seq, 0) as last_seq, d.upto,
      (select min(x.n) from generate_series(coalesce(s.last_seq, 0) + 1, d.upto) x(n)
        where not exists (
          select from writ_data.run_event e
          where e.run_id = d.run and e.run_seq = x.n)) as gap
    from (
      select u.run, max(u.seq) as upto
      from writ_data.event_batch b cross join lateral unnest(b.run_ids, b.run_seqs) u(run, seq)
      where (b.xid, b.batch_id) > ((v_at.position).xid, (v_at.position).fact)
        and (b.xid, b.batch_id) <= ((v_at.turn_end).xid, (v_at.turn_end).fact)
        and b.batch_id > (v_at.position).era
        and b.batch_id <= writ_data.era_end((v_at.position).era)
        and b.run_ids is not null
      group by u.run) d
    cross join lateral (
      select x.run_id, x.tenant_id from writ_data.run x where x.run_id = d.run offset 0) r
    left join lateral (
      select x.last_seq, x.missing from writ_data.run_snapshot x
      where x.run_id = d.run offset 0) s on true
    where coalesce(s.last_seq, 0) < d.upto and s.missing is null
  loop
    begin
      insert into writ_data.run_snapshot as s (run_id, last_seq, status, snapshot, missing,
        updated_at)
      values (g.run_id, 0, 'PENDING', 'null', coalesce(g.gap, g.upto), v_now)
      on conflict (run_id) do update set missing = excluded.missing, updated_at = v_now;
    exception when others then
      -- Not even that can be written: the run comes again when its log grows.
      if writ_data.is_transient(sqlstate) then
        raise;
      end if;
    end;
    continue when g.gap is null and g.run_id = any (v_stored);
    v_skipped := v_skipped + 1;
    if g.gap is null then
      perform writ_data.raise_alert('PROJECTOR_RUN_SKIPPED', 'P2', g.tenant_id,
        'run/' || g.run_id, jsonb_build_object('after', g.last_seq), v_at.holder, v_now);
    else
      perform writ_data.raise_alert('PROJECTOR_GAP_DETECTED', 'P1', g.tenant_id,
        'run/' || g.run_id, jsonb_strip_nulls(jsonb_build_object('expected', g.gap, 'found', (
          select min(e.run_seq) from writ_data.run_event e
          where e.run_id = g.run_id and e.run_seq > g.gap))), v_at.holder, v_now);
    end if;
  end loop;

  if v_at.oldest < v_now - v_most * interval '1 second' then
    perform writ_data.raise_alert('PROJECTOR_LAG_HIGH', 'P2', null, 'projector',
      jsonb_build_object('lag_ms', round(date_part('epoch', v_now - v_at.oldest) * 1000)),
      v_at.holder, v_now);
  else
    perform writ_data.clear_alert('PROJECTOR_LAG_HIGH', 'projector', v_at.holder, v_now);
  end if;
  update writ_data.run_projector
  set position = v_at.turn_end, held_until = '-infinity', turn = null, moved_at = v_now;
  return jsonb_build_object('projected', coalesce(cardinality(v_stored), 0), 'skipped', v_skipped);
end $$;
