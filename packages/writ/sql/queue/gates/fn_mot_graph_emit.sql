-- Emits one workflow and its N jobs, all or none.
-- Callers: writ_producer, writ_server
-- Answers: {workflow_id, job_ids, duplicate}; ids in the order of p_jobs. The workflow's id, or its
--          key, which is unique per tenant and kind, makes a repeated call a no-op that answers the
--          ids of the call that came first.
-- Refuses: actor_required, invalid_actor, invalid_workflow, invalid_idempotency_key,
--          payload_too_large, invalid_tenant, tenant_forbidden, invalid_jobs, batch_too_large; what
--          the queue refuses a job for; workflow_job_exists for a key of a job that is there
--          already: it could not be part of this workflow.
-- Raises, locks: see writ_data.enqueue_jobs.
create or replace function writ.fn_mot_graph_emit(
  p_workflow jsonb,                 -- {kind, generator, id (UUIDv7), key, correlation_id}
  p_jobs jsonb,                     -- as fn_job_enqueue_many takes them; ids may be left out
  p_actor text,
  p_tenant_id text default 'default'
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  v_kind text := p_workflow ->> 'kind';
  v_generator text := p_workflow ->> 'generator';
  v_key text := p_workflow ->> 'key';
  v_correlation text := p_workflow ->> 'correlation_id';
  v_id uuid;
  v_jobs jsonb;
  v_ids uuid[];
  v_answer jsonb;
begin
  -- Validate.

  if coalesce(btrim(p_actor), '') = '' then
    return writ_data.refused('fn_mot_graph_emit', p_actor, 'actor_required');
  elsif length(p_actor) > 200 then
    return writ_data.refused('fn_mot_graph_emit', p_actor, 'invalid_actor');
  elsif jsonb_typeof(p_workflow) is distinct from 'object' then
    return writ_data.refused(
      'fn_mot_graph_emit', p_actor, 'invalid_workflow', 'A workflow is an object.'
    );
  elsif coalesce(v_kind, '') !~ '^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,199}$' then
    return writ_data.refused(
      'fn_mot_graph_emit', p_actor, 'invalid_workflow', 'Its kind is not a name.'
    );
  elsif coalesce(v_generator, '') !~ '^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,199}$'
    or v_generator = 'MOT:'
  then
    return writ_data.refused(
      'fn_mot_graph_emit', p_actor, 'invalid_workflow', 'It does not name its generator.'
    );
  elsif v_key = '' or octet_length(v_key) > 1000 then
    return writ_data.refused(
      'fn_mot_graph_emit', p_actor, 'invalid_idempotency_key', 'The key of a workflow.'
    );
  elsif octet_length(v_correlation) > 2000 then
    return writ_data.refused(
      'fn_mot_graph_emit', p_actor, 'payload_too_large',
      format(
        'The correlation id of the workflow has %s bytes; at most 2000 are allowed.',
        octet_length(v_correlation)
      )
    );
  elsif p_workflow - '{id,kind,generator,key,correlation_id}'::text[] <> '{}' then
    return writ_data.refused(
      'fn_mot_graph_emit', p_actor,
      'invalid_workflow', 'A workflow has id, kind, generator, key and correlation_id.'
    );
  elsif coalesce(p_tenant_id, '') = '' or length(p_tenant_id) > 200 then
    return writ_data.refused('fn_mot_graph_emit', p_actor, 'invalid_tenant');
  elsif not writ_data.visible(p_tenant_id) then
    return writ_data.refused('fn_mot_graph_emit', p_actor, 'tenant_forbidden');
  elsif jsonb_typeof(p_jobs) is distinct from 'array' or p_jobs = '[]'
    or p_jobs @? 'strict $[*] ? (@.type() != "object")'
  then
    return writ_data.refused(
      'fn_mot_graph_emit', p_actor,
      'invalid_jobs', 'A workflow has at least one job, and each is an object.'
    );
  elsif jsonb_array_length(p_jobs) > 100000 then
    return writ_data.refused(
      'fn_mot_graph_emit', p_actor, 'batch_too_large', 'A workflow has at most 100,000 jobs.'
    );
  elsif p_workflow ? 'id' and coalesce(p_workflow ->> 'id', '')
    !~* '^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$'
  then
    return writ_data.refused(
      'fn_mot_graph_emit', p_actor, 'invalid_workflow', 'Its id is not a UUIDv7.'
    );
  end if;
  v_id := coalesce((p_workflow ->> 'id')::uuid, writ_data.uuidv7());
  if v_generator not like 'MOT:%' then
    v_generator := 'MOT:' || v_generator;
  end if;

  -- A job's own fields override those of its workflow, except the workflow's id.
  select jsonb_agg(
    jsonb_strip_nulls(jsonb_build_object(
      'id', writ_data.uuidv7(), 'correlation_id', v_correlation
    ))
    || job
    || jsonb_build_object('workflow_id', v_id)
    order by n
  )
  into v_jobs
  from jsonb_array_elements(p_jobs) with ordinality u(job, n);

  -- Write the workflow and its jobs.

  begin
    select array_agg((job ->> 'id')::uuid order by n)
    into v_ids
    from jsonb_array_elements(v_jobs) with ordinality u(job, n);
    insert into writ_data.job_workflow (
      workflow_id, tenant_id, workflow_kind, generator, correlation_id, enqueued_by, enqueued_at,
      workflow_key, job_ids
    )
    values (
      v_id, p_tenant_id, v_kind, v_generator, v_correlation, p_actor, v_now,
      v_key, v_ids
    )
    on conflict do nothing;
    if found then
      v_answer := writ_data.enqueue_jobs(v_jobs, p_actor, p_tenant_id, true, true);
      if v_answer ? 'reason' then
        raise exception using errcode = 'WR003', message = 'take back';
      elsif v_answer #> '{refused,0}' is not null then
        v_answer := writ_data.refusal(
          v_answer #>> '{refused,0,reason}',
          concat_ws(': ',
            'job ' || (v_answer #>> '{refused,0,index}'), v_answer #>> '{refused,0,detail}')
        );
        raise exception using errcode = 'WR003', message = 'take back';
      elsif (v_answer ->> 'enqueued')::integer < cardinality(v_ids) then
        v_answer := writ_data.refusal(
          'workflow_job_exists',
          concat('job ', v_answer #>> '{duplicates,0,index}', ': ',
            v_answer #>> '{duplicates,0,job_id}')
        );
        raise exception using errcode = 'WR003', message = 'take back';
      end if;
      perform writ_data.record(
        'fn_mot_graph_emit', p_actor, v_now, '{}', '{}', '{}', '{}',
        p_note => format(
          '%s of %s: %s jobs, workflow %s', v_kind, v_generator, cardinality(v_ids), v_id)
      );
      return jsonb_build_object(
        'workflow_id', v_id, 'job_ids', to_jsonb(v_ids), 'duplicate', false
      );
    end if;
  exception
    when sqlstate 'WR003' then
      return writ_data.audited('fn_mot_graph_emit', p_actor, v_answer);
    when invalid_text_representation then
      return writ_data.refused('fn_mot_graph_emit', p_actor, 'invalid_job_id');
  end;

  -- A second statement, and so a second snapshot: it sees the row that the first one met and could
  -- not insert.
  select jsonb_build_object(
    'workflow_id', w.workflow_id, 'job_ids', to_jsonb(w.job_ids), 'duplicate', true
  )
  into v_answer
  from writ_data.job_workflow w
  where w.tenant_id = p_tenant_id and w.workflow_kind = v_kind
    and (w.workflow_key = v_key or w.workflow_id = v_id)
  order by (w.workflow_key is not distinct from v_key) desc
  limit 1;
  if v_answer is null then
    return writ_data.refused(
      'fn_mot_graph_emit', p_actor,
      'invalid_workflow', 'Its id is taken by a different workflow.'
    );
  end if;
  return v_answer;
end $$;
