-- Sends dead letters of a destination again: those in p_events, or all if it is null. Relays send
-- them in order, after the waiting events of their streams. With p_since, relays instead send all
-- recorded events since then once more, with the same ids.
-- Callers: writ_admin, writ_server
-- Answers: {replayed}: how many dead letters.
-- Refuses: actor_required, invalid_argument (up to 100,000 events; p_since is a moment),
--          destination_not_found (also for one of another tenant).
-- Locks:   the destination.
create or replace function writ.fn_outbox_replay(
  p_name text,
  p_events uuid[],
  p_since timestamptz,
  p_actor text
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  v_only text := writ_data.caller_tenant();
  v_since writ_data.record_position;
  v_n integer := 0;
begin
  if coalesce(btrim(p_actor), '') = '' or length(p_actor) > 200 then
    return writ_data.refusal('actor_required');
  elsif not isfinite(p_since) or cardinality(p_events) > 100000 then
    return writ_data.refusal('invalid_argument', 'A moment, or up to 100,000 events.');
  end if;
  perform from writ_data.destination x
  where x.name = p_name and (v_only is null or x.tenant_id = v_only)
  for update;
  if not found then
    return writ_data.refusal('destination_not_found', left(p_name, 200));
  end if;

  if p_since is not null then
    -- A relay that has the turn loses it, because its report would move the position forward again.
    perform from writ_data.record_bounds(null);     -- notices a restore
    v_since := writ_data.position_since(p_since);
    update writ_data.destination x
    set position = v_since, holder = null, turn = null, held_until = '-infinity'
    where x.name = p_name and x.position >= v_since;
  else
    update writ_data.undelivered u set dead_at = null, attempts = 0, due_at = v_now
    where u.destination = p_name and u.dead_at is not null
      and (p_events is null or u.event_id = any (p_events));
    get diagnostics v_n = row_count;
    if not exists (
      select from writ_data.undelivered u
      where u.destination = p_name and u.dead_at is not null) then
      perform writ_data.clear_alert('DELIVERY_DEAD', 'destination/' || p_name, p_actor, v_now);
    end if;
  end if;
  perform writ_data.on_recorded(v_now);
  perform writ_data.record('fn_outbox_replay', p_actor, v_now, '{}', '{}', '{}', '{}',
    p_note => concat_ws(' ', p_name, 'since ' || p_since, v_n || ' dead letters'));
  return jsonb_build_object('replayed', v_n);
end $$;
