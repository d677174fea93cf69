-- Removes a consumer. The jobs that it has enqueued stay. If it is registered again, it follows
-- facts from that moment.
-- Callers: writ_admin
-- Answers: {removed: consumer}.
-- Refuses: actor_required, invalid_actor, tenant_forbidden, consumer_not_found.
-- Locks:   the row of the consumer.
create or replace function writ.fn_consumer_remove(p_consumer text, p_actor text) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
begin
  if coalesce(btrim(p_actor), '') = '' then
    return writ_data.refused('fn_consumer_remove', p_actor, 'actor_required');
  elsif length(p_actor) > 200 then
    return writ_data.refused('fn_consumer_remove', p_actor, 'invalid_actor');
  elsif writ_data.caller_tenant() is not null then
    return writ_data.refused(
      'fn_consumer_remove', p_actor,
      'tenant_forbidden', 'Consumers follow the facts of all tenants.'
    );
  end if;

  delete from writ_data.consumer_registry where consumer = p_consumer;
  if not found then
    return writ_data.refused(
      'fn_consumer_remove', p_actor, 'consumer_not_found', left(p_consumer, 200)
    );
  end if;
  perform writ_data.record(
    'fn_consumer_remove', p_actor, v_now, '{}', '{}', '{}', '{}', p_note => p_consumer
  );
  return jsonb_build_object('removed', p_consumer);
end $$;
