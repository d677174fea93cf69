-- Schedules whose next tick has come, the longest due first, after a given place, and when the next one after now is due. Nothing is locked: which
-- ticks have come is worked out outside, and fn_schedule_fire looks again under a lock.
-- Callers: writ_engine
create or replace function writ.fn_schedule_due(p_limit integer, p_after_tick timestamptz default '-infinity', p_after_tenant text default '', p_after_schedule text default '')
  returns jsonb language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
declare
  v_now timestamptz := writ.now();
  v_due jsonb;
begin
  select jsonb_agg(jsonb_build_object('tenant', d.tenant_id, 'schedule', d.schedule, 'cron', d.cron, 'time_zone', d.time_zone, 'catch_up', d.catch_up,
    'version', d.version, 'next_tick', d.next_tick) order by d.next_tick, d.tenant_id, d.schedule) into v_due
  from (
    select s.* from writ_data.schedule s
    where s.paused_at is null and s.next_tick <= v_now and (s.next_tick, s.tenant_id, s.schedule) > (p_after_tick, p_after_tenant, p_after_schedule)
      and writ_data.visible(s.tenant_id)
    order by s.next_tick, s.tenant_id, s.schedule limit p_limit) d;
  return jsonb_build_object('now', v_now, 'due', coalesce(v_due, '[]'),
    'next_due', (select min(s.next_tick) from writ_data.schedule s where s.paused_at is null and s.next_tick > v_now));
end $$;
