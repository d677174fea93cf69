-- The steps of governance jobs: status and times from the log of the run, what was found and
-- written from the row that each effect leaves. undo_of: the step that a rollback's step undoes.
-- Of steps that are done together and failed, the one that was refused is FAILED, and the others,
-- of which nothing stands, are SKIPPED.
-- Callers: writ_principal, processes, readers
create or replace view writ.governance_job_steps with (security_barrier) as
select
  g.job_id,
  g.tenant_id,
  n.step_no,
  n.step ->> 'step_type' as step_type,
  n.step ->> 'target' as target,
  n.step -> 'parameters' as parameters,
  case
    when e.completed is not null and s.error is not null then 'FAILED'
    when e.completed is not null then 'COMPLETED'
    when e.failed is not null and g.refused_step between e.first and e.last
      and g.refused_step <> n.step_no then 'SKIPPED'
    when e.failed is not null then 'FAILED'
    when g.status not in ('PENDING', 'RUNNING') then 'SKIPPED'
    when e.started is not null then 'RUNNING'
    else 'PENDING'
  end as status,
  e.started as started_at,
  coalesce(e.completed, e.failed) as completed_at,
  case
    when s.applied is not null then jsonb_build_object('before', s.found, 'after', s.applied)
  end as result,
  case
    when e.completed is not null then s.error
    when e.failed is not null and g.refused_step between e.first and e.last
      then case when g.refused_step = n.step_no then g.refusal end
    else e.error
  end as error,
  s.rollback_action,
  s.evidence,
  s.receipt_no,
  case when g.kind = 'rollback' then (n.step ->> 'undo_of')::integer end as undo_of
from writ_data.governance_job g
join writ_data.run r on r.run_id = g.run_id
cross join lateral (
  select x.step, x.n::integer as step_no
  from jsonb_array_elements(r.input -> 'steps') with ordinality x(step, n)
) n
left join writ_data.governance_step s on s.job_id = g.job_id and s.step_no = n.step_no
left join lateral (
  select
    min(z.first) as first,
    max(z.last) as last,
    min(y.at) filter (where y.event_type = 'StepStarted') as started,
    max(y.at) filter (where y.event_type = 'StepCompleted') as completed,
    max(y.at) filter (where y.event_type = 'StepFailed') as failed,
    max(y.data #>> '{error,errorMessage}') filter (where y.event_type = 'StepFailed') as error
  from writ_data.run_event y
  cross join lateral (
    select
      case when y.step_id ~ '^s[0-9]'
        then split_part(substr(y.step_id, 2), '-', 1)::integer end as first,
      case when y.step_id ~ '^s[0-9]'
        then split_part(substr(y.step_id, 2), '-', -1)::integer end as last
  ) z
  where y.run_id = g.run_id
    and y.event_type in ('StepStarted', 'StepCompleted', 'StepFailed')
    and n.step_no between z.first and z.last
) e on true
where (select writ.visible_tenant()) in ('', g.tenant_id);
