-- Pauses, resumes or removes a destination. Paused, it is told nothing and nothing is lost: the record is kept for it. Resumed, it goes on where it was, at once. Removed, what it was not told it will not be. Answers {name, state}.
-- Callers: writ_admin, writ_server
create or replace function writ.fn_destination_set(p_name text, p_state text, p_note text, p_actor text) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := writ.now(); d writ_data.destination;
begin
  if coalesce(btrim(p_actor), '') = '' or length(p_actor) > 200 then
    return writ_data.refusal('actor_required');
  elsif coalesce(p_state, '') not in ('active', 'paused', 'removed') then
    return writ_data.refusal('invalid_argument', 'The state is active, paused or removed.');
  end if;
  select * into d from writ_data.destination x where x.name = p_name and (x.tenant_id is null and writ_data.caller_tenant() is null or writ_data.visible(x.tenant_id)) for update;
  if not found then
    return writ_data.refusal('destination_not_found', p_name);
  elsif p_state = 'removed' then
    delete from writ_data.destination where name = p_name;
    perform writ_data.clear_alert(c, 'destination/' || p_name, p_actor, v_now) from unnest('{DELIVERY_DEAD,OUTBOX_LAG_HIGH}'::text[]) c;
  else
    update writ_data.destination set state = p_state, note = case p_state when 'paused' then left(p_note, 500) end, failures = 0, failing_since = null, retry_at = '-infinity', moved_at = v_now where name = p_name;
    update writ_data.undelivered set due_at = v_now where destination = p_name and due_at > v_now and dead_at is null and p_state = 'active';
  end if;
  if p_state <> 'paused' then
    perform writ_data.clear_alert('DESTINATION_PAUSED', 'destination/' || p_name, p_actor, v_now);
    perform writ_data.wake_relays(v_now);
  end if;
  perform writ_data.record('fn_destination_set', p_actor, v_now, '{}', '{}', '{}', '{}', p_note => format('%s: %s', p_name, p_state));
  return jsonb_build_object('name', p_name, 'state', p_state);
end $$;
