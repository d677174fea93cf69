-- The logs of the runs, with the columns of the specification. Ids and keys follow from the rest:
-- the id from run and number, the key from run, step, attempt, type and the plan's version. What
-- another engine says of an event itself stands in its data, as `told`.
-- Callers: processes, readers
create or replace view writ.run_events with (security_barrier) as
select
  e.run_id,
  e.run_seq,
  writ.run_event_id(e.run_id, e.run_seq) as event_id,
  e.event_type,
  e.step_id,
  e.logical_attempt as logical_attempt_id,
  e.engine_attempt::text as engine_attempt_id,
  e.data as event_data,
  encode(sha256(convert_to(concat_ws('|', e.run_id, e.step_id, e.logical_attempt, e.event_type,
    p.plan_version), 'UTF8')), 'hex') as idempotency_key,
  coalesce((e.data #>> '{told,emittedAt}')::timestamptz, e.at) as emitted_at,
  e.at as persisted_at,
  coalesce(e.data #>> '{told,adapterVersion}', r.engine || '/1') as adapter_version,
  case r.engine
    when 'native' then jsonb_build_object('engine', 'native', 'runId', r.run_id)
    else r.engine_run_ref
  end as engine_run_ref,
  e.signal_id as caused_by_signal_id,
  (e.data #>> '{told,parentEventId}')::uuid as parent_event_id,
  r.tenant_id
from writ_data.run_event e
join writ_data.run r on r.run_id = e.run_id
join writ_data.plan p on p.plan_no = r.plan_no
where (select writ.visible_tenant()) in ('', r.tenant_id);
