-- Removes a consumer. Jobs that it has enqueued stay; registered again it begins anew, with the facts of then.
-- Callers: writ_admin
create or replace function writ.fn_consumer_remove(p_consumer text, p_actor text) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := writ.now();
begin
  if coalesce(btrim(p_actor), '') = '' then
    return writ_data.refusal('actor_required');
  elsif writ_data.caller_tenant() is not null then
    return writ_data.refusal('tenant_forbidden', 'Consumers follow the facts of all tenants.');
  end if;
  delete from writ_data.consumer_registry where consumer = p_consumer;
  if not found then
    return writ_data.refusal('consumer_not_found', p_consumer);
  end if;
  perform writ_data.record('fn_consumer_remove', p_actor, v_now, '{}', '{}', '{}', '{}', p_note => p_consumer);
  return jsonb_build_object('removed', p_consumer);
end $$;
