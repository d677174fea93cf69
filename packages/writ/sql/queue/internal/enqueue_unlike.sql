-- Sends jobs that were meant to be alike the long way: one of them is different, or something is
-- wrong with the call.
-- Answers: as writ_data.enqueue_jobs does.
create or replace function writ_data.enqueue_unlike(
  p_kind text,
  p_ids uuid[],
  p_inputs json,
  p_actor text,
  p_tenant_id text,
  p_priority smallint,
  p_atomic boolean,
  p_traces text[],
  p_by_gate boolean default false
) returns jsonb
language plpgsql
as $$
declare
  v_jobs jsonb;                     -- null is refused as no list of jobs
begin
  -- Ids, inputs and traces go together.
  if cardinality(p_ids) <= 100000
    and (
      p_inputs is null
      or json_typeof(p_inputs) = 'array' and json_array_length(p_inputs) = cardinality(p_ids)
    )
    and (p_traces is null or cardinality(p_traces) = cardinality(p_ids))
  then
    select coalesce(jsonb_agg(
      jsonb_build_object(
        'id', u.id, 'kind', p_kind, 'tenant', p_tenant_id, 'priority', p_priority
      )
      || case
        when p_inputs is null then '{}'
        else jsonb_build_object('input', (p_inputs -> (u.n - 1)::integer)::jsonb)
      end
      || case
        when p_traces[u.n] is null then '{}'
        else jsonb_build_object('traceparent', p_traces[u.n])
      end
      order by u.n
    ), '[]')
    into v_jobs
    from unnest(p_ids) with ordinality u(id, n);
  end if;

  return writ_data.audited('fn_job_enqueue', p_actor, writ_data.enqueue_jobs(
    v_jobs, p_actor, p_tenant_id, coalesce(p_atomic, false), p_by_gate
  ));
end $$;
