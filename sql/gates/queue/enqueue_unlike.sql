-- internal
-- Jobs that were meant to be alike, sent the long way: one of them has to be told apart from the others.
create or replace function writ_data.enqueue_unlike(p_kind text, p_ids uuid[], p_inputs json, p_actor text, p_tenant_id text, p_priority smallint, p_atomic boolean)
  returns jsonb language plpgsql as $$
begin
  return writ.fn_job_enqueue_many(
    (select jsonb_agg(jsonb_build_object('id', u.id, 'kind', p_kind, 'tenant', p_tenant_id, 'priority', p_priority)
      || case when p_inputs is null then '{}' else jsonb_build_object('input', (p_inputs -> (u.n - 1)::integer)::jsonb) end order by u.n)
    from unnest(p_ids) with ordinality u(id, n)), p_actor, p_tenant_id, p_atomic);
end $$;
