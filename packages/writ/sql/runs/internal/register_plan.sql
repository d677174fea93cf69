-- Registers a version of a plan for a tenant, or with '' for every tenant. p_own: Writ makes the
-- plan itself, so it may have reserved kinds. Answers and refuses as writ.fn_plan_register does.
create or replace function writ_data.register_plan(
  p_document text,
  p_sha256 text,
  p_tenant text,
  p_actor text,
  p_own boolean
) returns jsonb
language plpgsql
as $$
declare
  v_now timestamptz := writ.now();
  v_sha bytea;
  v_plan jsonb;
  v_steps jsonb;
  v_no integer;
  v_known bytea;    -- the hash of the version that is there
  v_wrong text;
begin
  if coalesce(octet_length(p_document), 0) not between 2 and writ_data.plan_limit('bytes') then
    return writ_data.refusal('INVALID_STEP_SCHEMA',
      format('A plan has at most %s bytes.', writ_data.plan_limit('bytes')));
  end if;
  v_sha := sha256(convert_to(p_document, 'UTF8'));
  if encode(v_sha, 'hex') is distinct from lower(p_sha256) then
    return writ_data.refusal('PLAN_INTEGRITY_VALIDATION_FAILED',
      'The hash is not that of the document.');
  end if;
  v_plan := p_document::jsonb;
  v_steps := v_plan -> 'steps';
  -- Governance finds its plans by id and version: nobody else may put one there.
  if v_plan ->> 'planId' = 'governed' and not p_own then
    return writ_data.refusal('reserved_job_kind', 'The plan governed is of Writ itself.');
  end if;

  select p.plan_no, p.sha256 into v_no, v_known
  from writ_data.plan p
  where p.plan_id = v_plan ->> 'planId'
    and p.plan_version = v_plan ->> 'planVersion'
    and p.tenant_id in ('', p_tenant)
  order by p.sha256 = v_sha desc
  limit 1;
  if v_known = v_sha then
    return jsonb_build_object('plan_no', v_no, 'sha256', p_sha256, 'duplicate', true);
  elsif v_known is not null then
    return writ_data.refusal('PLAN_VERSION_EXISTS',
      format('%s %s', v_plan ->> 'planId', v_plan ->> 'planVersion'));
  end if;
  v_wrong := writ_data.wrong_with_plan(v_plan, p_own);
  if v_wrong is not null then
    return writ_data.refusal('INVALID_STEP_SCHEMA', v_wrong);
  end if;

  perform writ_data.open_days();    -- it may be the first call after days without a worker
  insert into writ_data.plan (plan_id, plan_version, tenant_id, sha256, document, on_failure,
    last_steps, registered_by, registered_at)
  values (v_plan ->> 'planId', v_plan ->> 'planVersion', p_tenant, v_sha, p_document,
    coalesce(v_plan ->> 'onFailure', 'fail'),
    array(
      select s.n from jsonb_array_elements(v_steps) with ordinality s(step, n)
      where not exists (
        select from jsonb_array_elements(v_steps) o(step)
        where o.step -> 'after' ? (s.step ->> 'id'))
      order by s.n),
    p_actor, v_now)
  on conflict do nothing
  returning plan_no into v_no;
  if not found then
    -- Another call was faster.
    return writ_data.register_plan(p_document, p_sha256, p_tenant, p_actor, p_own);
  end if;

  insert into writ_data.plan_step (plan_no, step_no, step_id, type, job_kind, after, next,
    condition, optional, input, over, parallel, event, schema, wait_ms, on_timeout, max_attempts,
    timeout_ms, undo_kind, undo_input, undo_attempts)
  select v_no, s.n, s.step ->> 'id', s.step ->> 'type',
    coalesce(s.step ->> 'kind', 'writ.' || (s.step ->> 'type')),
    array(
      select o.n from jsonb_array_elements(v_steps) with ordinality o(step, n)
      where s.step -> 'after' ? (o.step ->> 'id') order by o.n),
    array(
      select o.n from jsonb_array_elements(v_steps) with ordinality o(step, n)
      where o.step -> 'after' ? (s.step ->> 'id') order by o.n),
    s.step -> 'when', coalesce((s.step ->> 'optional')::boolean, false), s.step -> 'input',
    s.step #>> '{over,$ref}', (s.step ->> 'parallel')::numeric::integer, s.step ->> 'event',
    s.step -> 'schema',
    coalesce((s.step ->> 'ms')::numeric,
      case when s.step ->> 'type' = 'wait' then (s.step ->> 'timeoutMs')::numeric end)::bigint,
    s.step ->> 'onTimeout', (s.step #>> '{retry,attempts}')::numeric::smallint,
    case when s.step ->> 'type' in ('job', 'each') then (s.step ->> 'timeoutMs')::numeric end
      ::bigint,
    s.step #>> '{compensate,kind}', s.step #> '{compensate,input}',
    (s.step #>> '{compensate,retry,attempts}')::numeric::smallint
  from jsonb_array_elements(v_steps) with ordinality s(step, n);

  -- A step with very many successors is not plain: their inputs would be made in one statement.
  update writ_data.plan_step s
  set plain = case
    when s.next = '{}' then cardinality(p.last_steps) = 1
    when cardinality(s.next) > 100 then false
    else (
      select bool_and(n.type = 'job' and n.condition is null and cardinality(n.after) = 1)
      from writ_data.plan_step n
      where n.plan_no = v_no and n.step_no = any (s.next))
    end
  from writ_data.plan p
  where p.plan_no = v_no and s.plan_no = v_no and s.type = 'job' and not s.optional;

  perform writ_data.record('fn_plan_register', p_actor, v_now, '{}', '{}', '{}', '{}',
    p_note => format('%s %s', v_plan ->> 'planId', v_plan ->> 'planVersion'));
  return jsonb_build_object('plan_no', v_no, 'sha256', p_sha256, 'duplicate', false);
exception
  when data_exception or check_violation or not_null_violation or statement_too_complex then
    return writ_data.refusal('INVALID_STEP_SCHEMA', left(sqlerrm, 200));
end $$;
