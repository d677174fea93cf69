-- Pauses, resumes or removes a destination. A paused destination receives nothing and loses
-- nothing, because the record is kept for it. A resumed one continues at once where it stopped. A
-- removed one never receives its undelivered events.
-- Callers: writ_admin, writ_server
-- Answers: {name, state}.
-- Refuses: actor_required, invalid_argument, destination_not_found (also for one of another
--          tenant).
-- Locks:   the destination.
create or replace function writ.fn_destination_set(
  p_name text,
  p_state text,
  p_note text,
  p_actor text
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  v_only text := writ_data.caller_tenant();
begin
  if coalesce(btrim(p_actor), '') = '' or length(p_actor) > 200 then
    return writ_data.refusal('actor_required');
  elsif coalesce(p_state, '') not in ('active', 'paused', 'removed') then
    return writ_data.refusal('invalid_argument', 'The state is active, paused or removed.');
  end if;
  perform from writ_data.destination x
  where x.name = p_name and (v_only is null or x.tenant_id = v_only)
  for update;
  if not found then
    return writ_data.refusal('destination_not_found', left(p_name, 200));
  end if;

  if p_state = 'removed' then
    delete from writ_data.destination where name = p_name;
    perform writ_data.clear_alert(c, 'destination/' || p_name, p_actor, v_now)
    from unnest('{DELIVERY_DEAD,OUTBOX_LAG_HIGH}'::text[]) c;
  else
    update writ_data.destination
    set state = p_state, note = case p_state when 'paused' then left(p_note, 500) end,
      failures = 0, failing_since = null, retry_at = '-infinity', moved_at = v_now
    where name = p_name;
    update writ_data.undelivered set due_at = v_now
    where destination = p_name and due_at > v_now and dead_at is null and p_state = 'active';
  end if;
  if p_state <> 'paused' then
    perform writ_data.clear_alert('DESTINATION_PAUSED', 'destination/' || p_name, p_actor, v_now);
    perform writ_data.on_recorded(v_now);
  end if;
  perform writ_data.record('fn_destination_set', p_actor, v_now, '{}', '{}', '{}', '{}',
    p_note => format('%s: %s', p_name, p_state));
  return jsonb_build_object('name', p_name, 'state', p_state);
end $$;
