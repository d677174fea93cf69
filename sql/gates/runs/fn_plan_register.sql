-- Registers a version of a plan: its canonical JSON, and the hash that whoever wrote it knows. Steps stand in an order in which each comes after those it waits for.
-- The same version with the same content is answered as it is; with another content it is refused: versions do not change. The kinds of its jobs are registered before.
-- Callers: writ_producer, writ_server
create or replace function writ.fn_plan_register(p_document text, p_sha256 text, p_actor text) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  d jsonb; v_sha bytea := sha256(convert_to(p_document, 'UTF8')); v_no integer; v_known bytea; v_wrong text; v_now timestamptz := writ.now();
begin
  if coalesce(btrim(p_actor), '') = '' then
    return writ_data.refusal('actor_required');
  elsif octet_length(p_document) > 262144 then
    return writ_data.refusal('INVALID_STEP_SCHEMA', 'A plan has 256 KB at most.');
  elsif encode(v_sha, 'hex') is distinct from lower(p_sha256) then
    return writ_data.refusal('PLAN_INTEGRITY_VALIDATION_FAILED', 'The hash is not that of the document.');
  end if;
  d := p_document::jsonb;
  select p.plan_no, p.sha256 into v_no, v_known from writ_data.plan p where p.plan_id = d ->> 'planId' and p.plan_version = d ->> 'planVersion';
  if found then
    if v_known <> v_sha then
      return writ_data.refusal('PLAN_VERSION_EXISTS', format('%s %s', d ->> 'planId', d ->> 'planVersion'));
    end if;
    return jsonb_build_object('plan_no', v_no, 'sha256', p_sha256, 'duplicate', true);
  end if;
  if d ->> 'schemaVersion' is distinct from '1' or coalesce(d ->> 'planId', '') !~ '^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$' or coalesce(d ->> 'planVersion', '') !~ '^[A-Za-z0-9][A-Za-z0-9_.+-]{0,39}$'
    or jsonb_typeof(d -> 'steps') is distinct from 'array' or jsonb_array_length(d -> 'steps') not between 1 and 1000 then
    return writ_data.refusal('INVALID_STEP_SCHEMA', 'A plan has a schemaVersion of 1, a planId, a planVersion, and one to a thousand steps.');
  end if;
  -- What the guard of the builder would have found; checked again, because anybody may call.
  with step as (
    select s.n, s.step ->> 'id' as id, s.step ->> 'kind' as kind, s.step #>> '{compensate,kind}' as undo, s.step ->> 'type' as type, coalesce(s.step -> 'after', '[]') as after
    from jsonb_array_elements(d -> 'steps') with ordinality s(step, n)
  )
  select coalesce(
    (select format('step %s has no id that is one', n) from step where coalesce(id, '') !~ '^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$' order by n limit 1),
    (select format('two steps are called %s', id) from step group by id having count(*) > 1 limit 1),
    (select format('step %s is of a type that does not exist', id) from step where coalesce(type, '') not in ('job', 'each', 'wait', 'timer') limit 1),
    (select format('step %s comes after %s, which is not before it', s.id, a.id) from step s cross join lateral jsonb_array_elements_text(s.after) a(id)
      where not exists (select from step b where b.id = a.id and b.n < s.n) order by s.n limit 1),
    (select format('step %s has more than 100 references in a template', s.step ->> 'id') from jsonb_array_elements(d -> 'steps') s(step) cross join lateral (values (s.step -> 'input'), (s.step #> '{compensate,input}')) t(template)
      where (select count(*) from jsonb_path_query(t.template, 'lax $.**."$ref"')) > 100 limit 1),
    (select format('step %s is a job of kind %s, which nobody has registered', s.id, k.kind) from step s cross join lateral (values (s.kind), (s.undo)) k(kind)
      where (k.kind is not null or s.type in ('job', 'each') and s.kind is null) and not exists (select from writ_data.job_kind j where j.job_kind = k.kind) limit 1))
  into v_wrong;
  if v_wrong is not null then
    return writ_data.refusal('INVALID_STEP_SCHEMA', v_wrong);
  end if;

  insert into writ_data.plan (plan_id, plan_version, sha256, document, on_failure, last_steps, registered_by, registered_at)
  values (d ->> 'planId', d ->> 'planVersion', v_sha, p_document, coalesce(d ->> 'onFailure', 'fail'),
    array(select s.n from jsonb_array_elements(d -> 'steps') with ordinality s(step, n) where not exists
      (select from jsonb_array_elements(d -> 'steps') o(step) where o.step -> 'after' ? (s.step ->> 'id')) order by s.n), p_actor, v_now)
  on conflict do nothing returning plan_no into v_no;
  if not found then
    return writ.fn_plan_register(p_document, p_sha256, p_actor); -- another was faster
  end if;
  insert into writ_data.plan_step (plan_no, step_no, step_id, type, job_kind, after, next, condition, optional, input, over, parallel, event, wait_ms, on_timeout,
    max_attempts, timeout_ms, undo_kind, undo_input, undo_attempts)
  select v_no, s.n, s.step ->> 'id', s.step ->> 'type', coalesce(s.step ->> 'kind', 'writ.' || (s.step ->> 'type')),
    array(select o.n from jsonb_array_elements(d -> 'steps') with ordinality o(step, n) where s.step -> 'after' ? (o.step ->> 'id') order by o.n),
    array(select o.n from jsonb_array_elements(d -> 'steps') with ordinality o(step, n) where o.step -> 'after' ? (s.step ->> 'id') order by o.n),
    s.step -> 'when', coalesce((s.step ->> 'optional')::boolean, false), s.step -> 'input', s.step #>> '{over,$ref}', (s.step ->> 'parallel')::integer, s.step ->> 'event',
    coalesce((s.step ->> 'ms')::bigint, case when s.step ->> 'type' = 'wait' then (s.step ->> 'timeoutMs')::bigint end), s.step ->> 'onTimeout',
    (s.step #>> '{retry,attempts}')::smallint, case when s.step ->> 'type' in ('job', 'each') then (s.step ->> 'timeoutMs')::bigint end,
    s.step #>> '{compensate,kind}', s.step #> '{compensate,input}', (s.step #>> '{compensate,retry,attempts}')::smallint
  from jsonb_array_elements(d -> 'steps') with ordinality s(step, n);
  update writ_data.plan_step s set plain = case when s.next = '{}' then cardinality(p.last_steps) = 1
    else (select bool_and(n.type = 'job' and n.condition is null and cardinality(n.after) = 1) from writ_data.plan_step n where n.plan_no = v_no and n.step_no = any (s.next)) end
  from writ_data.plan p where p.plan_no = v_no and s.plan_no = v_no and s.type = 'job' and not s.optional;
  perform writ_data.record('fn_plan_register', p_actor, v_now, '{}', '{}', '{}', '{}', p_note => format('%s %s', d ->> 'planId', d ->> 'planVersion'));
  return jsonb_build_object('plan_no', v_no, 'sha256', p_sha256, 'duplicate', false);
exception when data_exception or check_violation or not_null_violation then
  return writ_data.refusal('INVALID_STEP_SCHEMA', sqlerrm);
end $$;
