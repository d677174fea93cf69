-- A tenant's share beside others that have work: twice the weight, twice the jobs. 1 unless set, 0.01 to 100.
-- Callers: writ_admin
create or replace function writ.fn_tenant_weight_set(p_tenant_id text, p_weight double precision, p_actor text) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := writ.now();
begin
  if coalesce(btrim(p_actor), '') = '' then
    return writ_data.refusal('actor_required');
  elsif coalesce(p_tenant_id, '') = '' or length(p_tenant_id) > 200 then
    return writ_data.refusal('invalid_tenant');
  elsif not writ_data.visible(p_tenant_id) then
    return writ_data.refusal('tenant_forbidden');
  elsif p_weight is null or not p_weight between 0.01 and 100 then
    return writ_data.refusal('invalid_weight');
  elsif p_weight = 1 then
    delete from writ_data.tenant_weight where tenant_id = p_tenant_id;
  else
    insert into writ_data.tenant_weight (tenant_id, weight, set_by, set_at) values (p_tenant_id, p_weight, p_actor, v_now)
    on conflict (tenant_id) do update set weight = excluded.weight, set_by = excluded.set_by, set_at = excluded.set_at;
  end if;
  perform writ_data.record('fn_tenant_weight_set', p_actor, v_now, '{}', '{}', '{}', '{}', p_note => format('%s: %s', p_tenant_id, p_weight));
  return jsonb_build_object('tenant', p_tenant_id, 'weight', p_weight);
end $$;
