-- Lists the schedules that are due after a given position, the longest due first. The caller
-- computes which of their ticks have come; fn_schedule_fire checks again under a lock.
-- Callers: writ_engine
-- Answers: {now, due: [{tenant, schedule, cron, time_zone, catch_up, version, next_tick}],
--          next_due: when the next one after now is}. Only schedules that this login may touch
--          and that are neither paused nor set aside.
-- Locks:   none.
create or replace function writ.fn_schedule_due(
  p_limit integer,                  -- 1 to 1,000
  p_after_tick timestamptz default '-infinity',
  p_after_tenant text default '',
  p_after_schedule text default ''
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
  v_now timestamptz := writ.now();
  v_tenant text := writ_data.caller_tenant();
  v_due jsonb;
begin
  select jsonb_agg(
    jsonb_build_object(
      'tenant', d.tenant_id, 'schedule', d.schedule, 'cron', d.cron, 'time_zone', d.time_zone,
      'catch_up', d.catch_up, 'version', d.version, 'next_tick', d.next_tick
    )
    order by d.next_tick, d.tenant_id, d.schedule
  )
  into v_due
  from (
    select s.* from writ_data.schedule s
    where s.paused_at is null and s.next_tick <= v_now
      and (s.next_tick, s.tenant_id, s.schedule) > (p_after_tick, p_after_tenant, p_after_schedule)
      and (s.aside_until is null or s.aside_until <= v_now)
      and (v_tenant is null or s.tenant_id = v_tenant)
    order by s.next_tick, s.tenant_id, s.schedule
    limit least(greatest(p_limit, 1), 1000)
  ) d;

  return jsonb_build_object(
    'now', v_now,
    'due', coalesce(v_due, '[]'),
    'next_due', (
      select min(s.next_tick) from writ_data.schedule s
      where s.paused_at is null and s.next_tick > v_now
        and (v_tenant is null or s.tenant_id = v_tenant)
    )
  );
end $$;
