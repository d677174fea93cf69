-- Emits one workflow and its N jobs, all or none. p_workflow is {kind, generator, id, key, correlation_id}; p_jobs are jobs as fn_job_enqueue_many takes
-- them, whose ids may be left out. The workflow's id (a UUIDv7) or its key, unique per tenant and kind, makes a repeated call a no-op.
-- Answers {workflow_id, job_ids, duplicate}; ids in the order of p_jobs, or, of a duplicate, of the call that came first. One job that is
-- refused refuses all, and so does one whose key belongs to a job that is there already: it could not be part of this workflow.
-- Callers: writ_producer, writ_server
create or replace function writ.fn_mot_graph_emit(p_workflow jsonb, p_jobs jsonb, p_actor text, p_tenant_id text default 'default') returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := writ.now();
  v_id uuid; v_kind text := p_workflow ->> 'kind'; v_key text := p_workflow ->> 'key'; v_generator text := p_workflow ->> 'generator';
  v_jobs jsonb; v_ids uuid[]; v_answer jsonb;
begin
  if coalesce(btrim(p_actor), '') = '' then
    return writ_data.refusal('actor_required');
  elsif jsonb_typeof(p_workflow) is distinct from 'object' then
    return writ_data.refusal('invalid_workflow', 'A workflow is an object.');
  elsif coalesce(v_kind, '') !~ '^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,199}$' then
    return writ_data.refusal('invalid_workflow', 'Its kind is not a name.');
  elsif coalesce(v_generator, '') !~ '^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,199}$' or v_generator = 'MOT:' then
    return writ_data.refusal('invalid_workflow', 'It does not name its generator.');
  elsif v_key = '' or octet_length(v_key) > 1000 then
    return writ_data.refusal('invalid_idempotency_key', 'The key of a workflow.');
  elsif octet_length(p_workflow ->> 'correlation_id') > 8192 then
    return writ_data.refusal('payload_too_large', 'The correlation id of a workflow.');
  elsif exists (select from jsonb_object_keys(p_workflow) k where k not in ('id', 'kind', 'generator', 'key', 'correlation_id')) then
    return writ_data.refusal('invalid_workflow', 'A workflow has id, kind, generator, key and correlation_id.');
  elsif coalesce(p_tenant_id, '') = '' or length(p_tenant_id) > 200 then
    return writ_data.refusal('invalid_tenant');
  elsif not writ_data.visible(p_tenant_id) then
    return writ_data.refusal('tenant_forbidden');
  elsif jsonb_typeof(p_jobs) is distinct from 'array' or p_jobs = '[]' or p_jobs @? 'strict $[*] ? (@.type() != "object")' then
    return writ_data.refusal('invalid_jobs', 'A workflow has at least one job, and each is an object.');
  elsif p_workflow ? 'id' and coalesce(p_workflow ->> 'id', '') !~* '^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$' then
    return writ_data.refusal('invalid_workflow', 'Its id is not a UUIDv7.');
  end if;
  v_id := coalesce((p_workflow ->> 'id')::uuid, writ_data.uuidv7());
  v_generator := case when v_generator like 'MOT:%' then v_generator else 'MOT:' || v_generator end;

  -- What a job says of itself wins over what its workflow says, but for the workflow.
  select jsonb_agg(jsonb_strip_nulls(jsonb_build_object('id', writ_data.uuidv7(), 'correlation_id', p_workflow ->> 'correlation_id'))
    || job || jsonb_build_object('workflow_id', v_id) order by n) into v_jobs
  from jsonb_array_elements(p_jobs) with ordinality u(job, n);

  begin
    select array_agg((job ->> 'id')::uuid order by n) into v_ids from jsonb_array_elements(v_jobs) with ordinality u(job, n);
    insert into writ_data.job_workflow (workflow_id, tenant_id, workflow_kind, generator, correlation_id, enqueued_by, enqueued_at, workflow_key, job_ids)
    values (v_id, p_tenant_id, v_kind, v_generator, p_workflow ->> 'correlation_id', p_actor, v_now, v_key, v_ids)
    on conflict do nothing;
    if found then
      v_answer := writ_data.enqueue_jobs(v_jobs, p_actor, p_tenant_id, true, true);
      if v_answer ? 'reason' then
        raise exception using errcode = 'WR003', message = 'take back';
      elsif v_answer #> '{refused,0}' is not null then
        v_answer := writ_data.refusal(v_answer #>> '{refused,0,reason}',
          concat_ws(': ', 'job ' || (v_answer #>> '{refused,0,index}'), v_answer #>> '{refused,0,detail}'));
        raise exception using errcode = 'WR003', message = 'take back';
      elsif (v_answer ->> 'enqueued')::integer < cardinality(v_ids) then
        v_answer := writ_data.refusal('workflow_job_exists', concat('job ', v_answer #>> '{duplicates,0,index}', ': ', v_answer #>> '{duplicates,0,job_id}'));
        raise exception using errcode = 'WR003', message = 'take back';
      end if;
      perform writ_data.record('fn_mot_graph_emit', p_actor, v_now, '{}', '{}', '{}', '{}',
        p_note => format('%s of %s: %s jobs, workflow %s', v_kind, v_generator, cardinality(v_ids), v_id));
      return jsonb_build_object('workflow_id', v_id, 'job_ids', to_jsonb(v_ids), 'duplicate', false);
    end if;
  exception
    when sqlstate 'WR003' then return v_answer;
    when invalid_text_representation then return writ_data.refusal('invalid_job_id');
  end;

  -- A second statement, and so a second snapshot: it sees the row that the first one met and could not insert.
  select jsonb_build_object('workflow_id', w.workflow_id, 'job_ids', to_jsonb(w.job_ids), 'duplicate', true) into v_answer
  from writ_data.job_workflow w
  where w.tenant_id = p_tenant_id and w.workflow_kind = v_kind and (w.workflow_key = v_key or w.workflow_id = v_id)
  order by (w.workflow_key is not distinct from v_key) desc limit 1;
  return coalesce(v_answer, writ_data.refusal('invalid_workflow', 'Its id is taken by a different workflow.'));
end $$;
