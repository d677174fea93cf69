-- What the projector made of it: snapshots, each taken only if it is newer than the one that is there; runs in whose logs an event is missing, which are marked STALE and raise
-- PROJECTOR_GAP_DETECTED until it is there again; and how far it is. Only who has the turn is heard.
-- Callers: writ_engine
create or replace function writ.fn_run_project(p_projector text, p_xid xid8, p_batch_id uuid, p_snapshots json, p_gaps jsonb, p_lag_ms double precision) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
declare
  v_now timestamptz := writ.now(); p writ_data.run_projector; g record; v_n integer; v_limit double precision := (writ_data.setting('runs.projector.lag_alert_sec'))::double precision * 1000;
begin
  select * into p from writ_data.run_projector for update;
  if p.holder is distinct from p_projector then
    return writ_data.refusal('not_the_projector');
  end if;
  insert into writ_data.run_snapshot as s (run_id, last_seq, status, snapshot, updated_at)
  select x.run_id, x.last_seq, x.status, x.snapshot, v_now from json_to_recordset(p_snapshots) x(run_id uuid, last_seq integer, status text, snapshot json) where exists (select from writ_data.run r where r.run_id = x.run_id) order by x.run_id
  on conflict (run_id) do update set last_seq = excluded.last_seq, status = excluded.status, snapshot = excluded.snapshot, missing = null, updated_at = excluded.updated_at
  where s.last_seq < excluded.last_seq or s.missing is not null;
  get diagnostics v_n = row_count;
  perform writ_data.clear_alert(a.code, a.subject, p_projector, v_now) from writ_data.alert a
  where a.cleared_at is null and a.code = 'PROJECTOR_GAP_DETECTED' and a.subject in (select 'run/' || x.run_id from json_to_recordset(p_snapshots) x(run_id uuid));
  for g in select * from jsonb_to_recordset(p_gaps) x(run_id uuid, expected integer, found integer, last_seq integer, status text, snapshot json, tenant text) loop
    insert into writ_data.run_snapshot as s (run_id, last_seq, status, snapshot, missing, updated_at) values (g.run_id, g.last_seq, g.status, g.snapshot, g.expected, v_now)
    on conflict (run_id) do update set missing = excluded.missing where s.missing is null;
    perform writ_data.raise_alert('PROJECTOR_GAP_DETECTED', 'P1', g.tenant, 'run/' || g.run_id, jsonb_strip_nulls(jsonb_build_object('expected', g.expected, 'found', g.found)), p_projector, v_now);
  end loop;
  if p_lag_ms > v_limit then
    perform writ_data.raise_alert('PROJECTOR_LAG_HIGH', 'P2', null, 'projector', jsonb_build_object('lag_ms', round(p_lag_ms)), p_projector, v_now);
  else
    perform writ_data.clear_alert('PROJECTOR_LAG_HIGH', 'projector', p_projector, v_now);
  end if;
  update writ_data.run_projector set xid = p_xid, batch_id = p_batch_id, held_until = '-infinity', moved_at = v_now;
  return jsonb_build_object('projected', v_n);
end $$;
