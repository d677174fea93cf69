-- Schedules, when each fires next, and the last tick that fired. The input of its jobs is left out:
-- it is data, and this view is for every reader.
-- Callers: processes, readers
create or replace view writ.schedule with (security_barrier) as
select
  s.tenant_id, s.schedule, s.cron, s.time_zone, s.catch_up, s.job_kind,
  s.job - 'input' as job_options, s.version, s.next_tick, s.paused_at, s.paused_by,
  l.tick as last_tick, l.job_id as last_job_id, s.created_at, s.created_by, s.updated_at,
  s.updated_by, s.aside_until
from writ_data.schedule s
left join lateral (
  select t.tick, t.job_id
  from writ_data.schedule_tick t
  where t.tenant_id = s.tenant_id and t.schedule = s.schedule
  order by t.tick desc
  limit 1
) l on true
where (select writ.visible_tenant()) in ('', s.tenant_id);
