-- Sets a tenant's weight. Among tenants with work, twice the weight gets twice the jobs.
-- Callers: writ_admin
-- Answers: {tenant, weight}.
-- Refuses: actor_required, invalid_actor, tenant_forbidden (for a login that is bound to a
--          tenant), invalid_tenant, invalid_weight.
-- Locks:   the row of the tenant.
create or replace function writ.fn_tenant_weight_set(
  p_tenant_id text,
  p_weight double precision,        -- 0.01 to 100; 1 unless set
  p_actor text
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
begin
  if coalesce(btrim(p_actor), '') = '' then
    return writ_data.refused('fn_tenant_weight_set', p_actor, 'actor_required');
  elsif length(p_actor) > 200 then
    return writ_data.refused('fn_tenant_weight_set', p_actor, 'invalid_actor');
  elsif writ_data.caller_tenant() is not null then
    return writ_data.refused(
      'fn_tenant_weight_set', p_actor, 'tenant_forbidden', 'Tenants share with each other.'
    );
  elsif coalesce(p_tenant_id, '') = '' or length(p_tenant_id) > 200 then
    return writ_data.refused('fn_tenant_weight_set', p_actor, 'invalid_tenant');
  elsif p_weight is null or not p_weight between 0.01 and 100 then
    return writ_data.refused('fn_tenant_weight_set', p_actor, 'invalid_weight');
  end if;

  if p_weight = 1 then
    delete from writ_data.tenant_weight where tenant_id = p_tenant_id;
  else
    insert into writ_data.tenant_weight (tenant_id, weight, set_by, set_at)
    values (p_tenant_id, p_weight, p_actor, v_now)
    on conflict (tenant_id) do update set
      weight = excluded.weight, set_by = excluded.set_by, set_at = excluded.set_at;
  end if;
  perform writ_data.record(
    'fn_tenant_weight_set', p_actor, v_now, '{}', '{}', '{}', '{}',
    p_note => format('%s: %s', p_tenant_id, p_weight)
  );
  return jsonb_build_object('tenant', p_tenant_id, 'weight', p_weight);
end $$;
