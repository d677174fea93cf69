-- Jobs with the columns of specification 002 §3.2. The status is stored nowhere: it follows from
-- where the job stands. It is null for a job that stands nowhere: somebody has deleted its row past
-- the gates, and no worker will run it.
-- Callers: processes, readers
create or replace view writ.job_queue with (security_barrier) as
select
  j.job_id, j.tenant_id, j.job_kind, j.event_domain,
  coalesce(j.idempotency_key, j.job_id::text) as idempotency_key,
  j.source_ref, j.target_ref,
  coalesce(
    j.payload_ref, 'sha256:' || encode(sha256(convert_to(j.input::text, 'UTF8')), 'hex')
  ) as payload_ref,
  coalesce(j.safe_payload, '{}') as safe_payload, j.payload_classification, j.executor,
  case
    when c.job_id is not null then 'cleaned'
    when e.final then case e.abort_kind when 'cancelled' then 'cancelled' else 'dead_letter' end
    when e.status = 'DONE' then 'succeeded'
    when e.status = 'COMMITTED' then 'in_progress'
    when r.execution_no is not null then 'queued'
    when w.job_id is not null then case w.reason when 'retry' then 'retry_waiting' else 'queued' end
    when o.position <= o.started_upto then 'in_progress'
    when o.position is not null then 'leased'
  end as status,
  coalesce(
    r.attempts, w.attempts, o.attempts + (o.position <= o.started_upto)::integer, e.attempt, 0
  )::integer as attempts,
  j.max_attempts::integer,
  err.error_message as last_error, err.error_code as last_error_code,
  err.finished_at as last_error_at,
  o.lease_name, o.holder as lease_holder, o.leased_until,
  coalesce(w.due_at, j.process_after) as process_after, j.deadline_at, j.priority,
  j.correlation_id, j.causation_event_id, j.parent_job_id, j.workflow_id,
  j.enqueued_by, j.enqueued_at, coalesce(o.started_at, e.started_at) as started_at,
  case when e.final or e.status = 'DONE' then e.finished_at end as finished_at,
  j.source_system,
  coalesce(
    e.result_ref, 'sha256:' || encode(sha256(convert_to(e.result::text, 'UTF8')), 'hex')
  ) as result_ref,
  cr.requested_at as cancel_requested_at, j.limit_key, j.traceparent
from writ_data.job j
left join writ_data.job_cleaned c on c.job_id = j.job_id
left join lateral (
  select x.attempts, x.execution_no
  from writ_data.job_ready x
  where x.moved and x.job_ids[1] = j.job_id
  union all
  select x.attempts, x.execution_no
  from writ_data.lane l
  join writ_data.job_ready x on x.lane_id = l.lane_id and x.seq = j.ready_seq
  where l.job_kind = j.job_kind and l.tenant_id = j.tenant_id
    and l.limit_key = coalesce(j.limit_key, '') and l.priority = j.priority
    and not x.moved and j.job_id = any (x.job_ids)
  limit 1
) r on true
left join writ_data.job_wait w on w.job_id = j.job_id
left join writ_data.job_cancel cr on cr.job_id = j.job_id
left join lateral (
  select x.*
  from writ_data.job_execution x
  where x.job_id = j.job_id
  order by x.final desc, (x.status <> 'ABORTED') desc, x.execution_no desc
  limit 1
) e on true
left join lateral (
  select x.error_message, x.error_code, x.finished_at
  from writ_data.job_execution x
  where x.job_id = j.job_id and x.error_code is not null
  order by x.execution_no desc
  limit 1
) err on true
left join lateral (
  select
    l.lease_name, l.holder, l.leased_until, p.position,
    coalesce(l.start_upto[cardinality(l.start_upto)], 0) as started_upto,
    l.attempts[p.position] as attempts,
    case
      when p.position <= coalesce(l.start_upto[cardinality(l.start_upto)], 0)
      then l.start_at[width_bucket(p.position - 1, l.start_upto) + 1]
    end as started_at
  from writ_data.job_lease l
  cross join lateral (select array_position(l.job_ids, j.job_id) as position) p
  where p.position is not null and r.execution_no is null and w.job_id is null
    and (e.job_id is null or e.status <> 'DONE' and not e.final)
  limit 1
) o on true
-- COALESCE, because the planner takes a bare IN for something that few rows pass, and then reads
-- all.
where coalesce((select writ.visible_tenant()) in ('', j.tenant_id), false)
-- For those who ask for the newest: a barrier keeps their order and limit from the tables.
order by j.job_id desc;
