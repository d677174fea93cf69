-- Opens the governor of a tenant and product, if there is none yet.
-- Callers: writ_producer, writ_server, writ_admin
-- Answers: {governor_id, created}. The record names the actor and the login.
-- Refuses: TENANT_ACCESS_DENIED, invalid_governor.
create or replace function writ.fn_governor_put(
  p_tenant text,
  p_sku text,
  p_actor text
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  v_actor text := left(coalesce(nullif(btrim(p_actor), ''), session_user), 200);
  v_id uuid;
begin
  if p_tenant is null or not writ_data.visible(p_tenant) then
    return writ_data.refusal('TENANT_ACCESS_DENIED', p_tenant);
  end if;
  v_id := (writ_data.governor_of(p_tenant, p_sku)).governor_id;
  if v_id is not null then
    return jsonb_build_object('governor_id', v_id, 'created', false);
  end if;

  insert into writ_data.governor (governor_id, tenant_id, sku_id, created_by, created_at)
  values (writ_data.uuidv7(), p_tenant, p_sku, v_actor, v_now)
  on conflict do nothing
  returning governor_id into v_id;
  if v_id is null then
    v_id := (writ_data.governor_of(p_tenant, p_sku)).governor_id;
    return jsonb_build_object('governor_id', v_id, 'created', false);
  end if;

  insert into writ_data.governor_inbox (governor_id) values (v_id);
  perform writ_data.put_mail(array[v_id], array[jsonb_build_object(
    'kind', 'create', 'sku_id', p_sku, 'tenant_id', p_tenant, 'process_id', v_actor,
    'bounds', writ_data.governor_bounds())], v_now);
  perform writ_data.record('fn_governor_put', v_actor, v_now, '{}', '{}', '{}', '{}',
    jsonb_build_object('governor_id', v_id));
  return jsonb_build_object('governor_id', v_id, 'created', true);
exception when check_violation or not_null_violation then
  return writ_data.refusal('invalid_governor', left(concat_ws(' and ', p_tenant, p_sku), 250));
end $$;
