-- Makes the jobs that follow from facts: for each of these consumers one array as enqueue_jobs
-- takes it, in the order of the facts. A job carries a reference to its fact and no data of it. Its
-- tenant is that of the fact's job; `default` for facts that are about no job. A consumer sees
-- nothing recorded before its p_since, and no facts about jobs of the kind that it enqueues.
-- The plan is fixed: jobs are looked up by their key.
create or replace function writ_data.consumer_jobs(
  p_consumers text[],
  p_since uuid[],
  p_event_ids uuid[],
  p_event_types text[],
  p_subjects text[]
) returns table (consumer text, jobs jsonb)
language plpgsql
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  select
    c.consumer,
    jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
      'id', writ_data.uuidv7(),
      'kind', c.job_kind,
      'key', 'consumer:' || c.consumer || ':' || f.event_id,
      'tenant', coalesce(j.tenant_id, 'default'),
      'priority', c.priority,
      'delay_ms', nullif(c.delay_ms, 0),
      'max_attempts', c.max_attempts,
      'source_ref', 'job/' || j.job_id,
      'correlation_id', j.correlation_id,
      'traceparent', j.traceparent,
      'causation_event_id', f.event_id,
      'input', jsonb_build_object(
        'eventId', f.event_id, 'eventType', f.event_type, 'subject', f.subject)
    )) order by f.n)
  from unnest(p_event_ids, p_event_types, p_subjects)
    with ordinality f(event_id, event_type, subject, n)
  join writ_data.consumer_registry c on c.event_type = f.event_type
  join unnest(p_consumers, p_since) s(consumer, since)
    on s.consumer = c.consumer and f.event_id >= s.since
  left join writ_data.job j
    on j.job_id = case when f.event_type like 'dot.job.%' then f.subject::uuid end
  where (j.job_id is not null or f.event_type not like 'dot.job.%')
    and c.job_kind is distinct from j.job_kind
    and (c.subject_kind is null or c.subject_kind = j.job_kind)
    and (c.subject_domain is null or c.subject_domain = j.event_domain)
  group by c.consumer;
end $$;
