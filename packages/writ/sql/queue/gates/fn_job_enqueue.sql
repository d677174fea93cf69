-- Enqueues one job, in the signature of specification 002 §4.
-- Callers: writ_producer, writ_server
-- Answers: {job_id, duplicate, same_payload}.
-- Refuses and locks: see writ_data.enqueue_jobs.
create or replace function writ.fn_job_enqueue(
  p_kind text,
  p_idempotency_key text,
  p_executor text,
  p_source_ref text,
  p_target_ref text,
  p_payload_ref text,
  p_safe_payload jsonb,
  p_priority integer,
  p_process_after timestamptz,
  p_deadline_at timestamptz,
  p_correlation_id text,
  p_causation_event_id uuid,
  p_actor text,
  p_tenant_id text default 'default',
  p_input jsonb default null,
  p_max_attempts integer default null,
  p_parent_job_id uuid default null,
  p_workflow_id uuid default null
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_id uuid := writ_data.uuidv7();
  v_job jsonb;
  v_answer jsonb;
begin
  v_job := jsonb_strip_nulls(jsonb_build_object(
    'id', v_id, 'kind', p_kind, 'key', p_idempotency_key, 'executor', p_executor,
    'source_ref', p_source_ref, 'target_ref', p_target_ref, 'payload_ref', p_payload_ref,
    'priority', p_priority, 'process_after', p_process_after, 'deadline_at', p_deadline_at,
    'correlation_id', p_correlation_id, 'causation_event_id', p_causation_event_id,
    'max_attempts', p_max_attempts, 'parent_job_id', p_parent_job_id,
    'workflow_id', p_workflow_id
  ));
  if p_input is not null then
    v_job := v_job || jsonb_build_object('input', p_input);
  end if;
  if p_safe_payload is not null then
    v_job := v_job || jsonb_build_object('safe_payload', p_safe_payload);
  end if;

  v_answer := writ_data.audited('fn_job_enqueue', p_actor, writ_data.enqueue_jobs(
    jsonb_build_array(v_job), p_actor, p_tenant_id, p_by_gate => true
  ));
  if v_answer ? 'reason' then
    return v_answer;
  elsif v_answer #> '{refused,0}' is not null then
    return writ_data.refusal(
      v_answer #>> '{refused,0,reason}', v_answer #>> '{refused,0,detail}'
    );
  elsif v_answer #> '{duplicates,0}' is not null then
    return jsonb_build_object(
      'job_id', v_answer #> '{duplicates,0,job_id}', 'duplicate', true,
      'same_payload', v_answer #> '{duplicates,0,same_payload}'
    );
  end if;
  return jsonb_build_object('job_id', v_id, 'duplicate', false);
end $$;
