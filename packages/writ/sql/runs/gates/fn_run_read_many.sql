-- Reads runs as their logs have them now, in one call.
-- Callers: processes, readers
-- Answers: [[run, tenant, plan's version, the projector's last snapshot or null, [[number, type,
--          step, logical attempt, engine's attempt, data, milliseconds since 1970], ...]], ...],
--          each with its events since that snapshot, ten thousand at most. Runs that are not there,
--          or are of another tenant, are left out.
-- Refuses: invalid_argument (at most 10,000 runs).
create or replace function writ.fn_run_read_many(p_runs uuid[]) returns json
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_only text := writ_data.caller_tenant();
  v_ids uuid[];
  v_lo uuid;
  v_hi uuid;
begin
  if cardinality(p_runs) > 10000 then
    return writ_data.refusal('invalid_argument', 'At most 10,000 runs.');
  end if;
  v_ids := array(select r from unnest(p_runs) r order by r);
  v_lo := v_ids[1];
  v_hi := v_ids[cardinality(v_ids)];
  return coalesce((
    select json_agg(json_build_array(r.run_id, r.tenant_id, p.plan_version, s.snapshot, (
      select json_agg(json_build_array(e.run_seq, e.event_type, e.step_id, e.logical_attempt,
        e.engine_attempt, e.data,
        round(date_part('epoch', e.at) * 1000)::bigint))
      from (
        select * from writ_data.run_event x
        where x.run_id = r.run_id and x.run_id between v_lo and v_hi
          and x.run_seq > coalesce(s.last_seq, 0)
        order by x.run_seq
        limit 10000) e)))
    from unnest(p_runs) u(id)
    cross join lateral (
      select * from writ_data.run x
      where x.run_id = u.id and x.run_id between v_lo and v_hi offset 0) r
    join writ_data.plan p on p.plan_no = r.plan_no
    left join lateral (
      select x.snapshot, x.last_seq from writ_data.run_snapshot x
      where x.run_id = u.id and x.run_id between v_lo and v_hi offset 0) s on true
    where r.tenant_id = coalesce(v_only, r.tenant_id)), '[]');
end $$;
