-- The facts of every batch, one by one. A fact's id is its batch's id plus its ordinal, so it never
-- changes and can be looked up. Readers that follow it take rows with xid <
-- pg_snapshot_xmin(pg_current_snapshot()), in the order (xid, id).
-- Callers: processes, readers
create or replace view writ.event_outbox with (security_barrier) as
select
  (left(b.batch_id::text, 30) || lpad(to_hex(f.ordinal), 6, '0'))::uuid as id,
  coalesce(t.event_domain, j.event_domain, 'dot') as event_domain,
  f.event_type, t.event_stream,
  'immediate'::text as delivery_lane,
  t.event_severity,
  case
    when f.event_type like 'dot.job.%' then 'job_queue'
    when f.event_type like 'dot.run.%' then 'run_events'
    when f.event_type like 'system.alert%' then 'alert'
    else coalesce(g.of_table, 'queue_worker')
  end as event_subject_table,
  case
    when f.event_type like any ('{dot.job.%,dot.run.%,system.alert%}') or g.of_table is not null
      then b.subjects[f.subject]::text
    else b.details #>> array['executors', (f.subject - 1)::text]
  end as event_subject_ref,
  case
    when f.event_type like 'dot.run.%' then 'run/'
    when f.event_type like 'system.alert%' then 'alert/'
    else coalesce(g.address, 'job/')
  end
    || b.subjects[f.subject] as canonical_address,
  b.actor as actor_ref,
  coalesce(j.source_system, 'writ') as source_system,
  j.correlation_id,
  'safe_metadata'::text as payload_classification,
  case
    when b.details ? 'each' then coalesce(b.details -> 'each' -> b.subjects[f.subject]::text, '{}')
    when b.details ? 'codes'
      then jsonb_strip_nulls(jsonb_build_object(
        'code', b.details -> 'codes' -> b.subjects[f.subject]::text
      ))
    else coalesce(b.details, '{}')
  end as safe_payload,
  b.at as occurred_at,
  b.at as created_at,
  coalesce(j.tenant_id, r.tenant_id, g.tenant_id) as tenant_id,
  b.xid
from writ_data.event_batch b
cross join lateral (
  select
    b.types[r.i] as event_type,
    s.subject,
    (row_number() over (order by r.i, s.subject))::integer as ordinal
  from generate_subscripts(b.types, 1) r(i)
  cross join lateral generate_series(b.first[r.i], b.last[r.i]) s(subject)
) f
left join writ_data.job j on j.job_id = b.subjects[f.subject]
left join writ_data.run r on f.event_type like 'dot.run.%' and r.run_id = b.subjects[f.subject]
left join lateral (
  -- The tenant of a fact of governance is in the row of its subject. Subqueries read it, because
  -- readers of the view may not call internal functions.
  select
    case k.kind
      when 'contract' then 'system_contracts'
      when 'governance_job' then 'governance_jobs'
      when 'signal' then 'governance_signals'
      else k.kind
    end as of_table,
    k.kind || '/' as address,
    case k.kind
      when 'contract'
        then (
          select x.tenant_id from writ_data.contract x where x.contract_id = b.subjects[f.subject]
        )
      when 'governance_job'
        then (
          select x.tenant_id from writ_data.governance_job x where x.job_id = b.subjects[f.subject]
        )
      when 'signal'
        then (
          select x.tenant_id
          from writ_data.governance_signal x
          where x.signal_id = b.subjects[f.subject]
        )
      when 'governor'
        then (
          select x.tenant_id from writ_data.governor x where x.governor_id = b.subjects[f.subject]
        )
      else (
        select x.tenant_id from writ_data.incident x where x.incident_id = b.subjects[f.subject]
      )
    end as tenant_id
  from (
    select case
      when f.event_type like 'governance.contract%' then 'contract'
      when f.event_type like 'governance.%' then 'governance_job'
      when f.event_type like 'health.signal%' then 'signal'
      when f.event_type like 'health.incident%' then 'incident'
      when f.event_type like 'governor.%' then 'governor'
    end as kind
  ) k
  where k.kind is not null
) g on true
left join writ_data.event_type_registry t on t.event_type = f.event_type
where (select writ.visible_tenant()) in ('', j.tenant_id, r.tenant_id, g.tenant_id);
