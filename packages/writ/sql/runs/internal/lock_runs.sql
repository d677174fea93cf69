-- Locks runs in the order of their ids, so that two callers cannot wait for each other.
create or replace function writ_data.lock_runs(p_runs uuid[]) returns void
language plpgsql
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_lo uuid;
  v_hi uuid;
begin
  select x.ids[1], x.ids[cardinality(p_runs)]
  into v_lo, v_hi
  from (select array_agg(r order by r) as ids from unnest(p_runs) r) x;
  perform from writ_data.run r
  where r.run_id = any (p_runs) and r.run_id between v_lo and v_hi
  order by r.run_id
  for no key update;
end $$;
