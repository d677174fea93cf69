-- Deletes the snapshots of runs. The projector then rebuilds them from the whole logs.
-- Callers: writ_admin, writ_server
-- Answers: {runs}, how many. Use it to replace a snapshot that differs from its log. The gate skips
--          a run without events, because its snapshot would never come.
-- Refuses: actor_required, invalid_argument (one to a thousand runs).
create or replace function writ.fn_run_rebuild(
  p_runs uuid[],
  p_actor text
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
  v_now timestamptz := writ.now();
  v_only text := writ_data.caller_tenant();
  v_runs uuid[];
begin
  if coalesce(btrim(p_actor), '') = '' or length(p_actor) > 200 then
    return writ_data.refusal('actor_required');
  elsif coalesce(cardinality(p_runs), 0) not between 1 and 1000 then
    return writ_data.refusal('invalid_argument', 'One to a thousand runs.');
  end if;

  with forgotten as (
    insert into writ_data.run_snapshot as s (run_id, last_seq, status, snapshot, missing,
      updated_at)
    select r.run_id, 0, 'PENDING', 'null', 1, v_now
    from writ_data.run r
    where r.run_id = any (p_runs) and r.tenant_id = coalesce(v_only, r.tenant_id)
      and exists (select from writ_data.run_event e where e.run_id = r.run_id)
    order by r.run_id
    on conflict (run_id) do update
    set last_seq = 0, status = 'PENDING', snapshot = 'null', missing = 1, updated_at = v_now
    returning s.run_id
  )
  select coalesce(array_agg(f.run_id), '{}') into v_runs from forgotten f;
  perform writ_data.record('fn_run_rebuild', p_actor, v_now, '{}', '{}', '{}', '{}',
    p_note => format('snapshots of %s runs are made anew', cardinality(v_runs)));
  return jsonb_build_object('runs', cardinality(v_runs));
end $$;
