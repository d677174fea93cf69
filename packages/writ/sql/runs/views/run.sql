-- The runs, as their own rows say.
-- Callers: processes, readers
create or replace view writ.run with (security_barrier) as
select
  r.run_id,
  r.tenant_id,
  r.project_id,
  r.environment_id,
  p.plan_id,
  p.plan_version,
  encode(p.sha256, 'hex') as plan_sha256,
  r.engine,
  r.engine_run_ref,
  r.priority,
  r.request_id,
  r.original_run_id,
  r.status,
  case when r.ending is not null and r.status in ('RUNNING', 'PAUSED') then
    case
      when exists (select from writ_data.job j where j.run_id = r.run_id and j.undo)
        then 'RECOVERING'
      else 'DRAINING'
    end
  end as substatus,
  r.started_by,
  r.created_at,
  r.moved_at,
  case when r.status in ('COMPLETED', 'FAILED', 'CANCELLED') then r.moved_at end as ended_at,
  r.traceparent,
  r.plan_no
from writ_data.run r
join writ_data.plan p on p.plan_no = r.plan_no
where (select writ.visible_tenant()) in ('', r.tenant_id)
-- For those who ask for the newest: a barrier keeps their order and limit from the tables.
order by r.run_id desc;
