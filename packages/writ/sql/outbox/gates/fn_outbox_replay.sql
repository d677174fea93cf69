-- Gives dead letters of a destination to it again: these, or, with null, all. They are told in their order, behind what their streams still wait for. With p_since instead: everything that has happened since, and is still recorded, is told once more, with the same ids. Answers {replayed}.
-- Callers: writ_admin, writ_server
create or replace function writ.fn_outbox_replay(p_name text, p_events uuid[], p_since timestamptz, p_actor text) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := writ.now(); v_n integer := 0; v_dead uuid[];
begin
  if coalesce(btrim(p_actor), '') = '' or length(p_actor) > 200 then
    return writ_data.refusal('actor_required');
  end if;
  perform from writ_data.destination x where x.name = p_name and (x.tenant_id is null and writ_data.caller_tenant() is null or writ_data.visible(x.tenant_id)) for update;
  if not found then
    return writ_data.refusal('destination_not_found', p_name);
  elsif p_since is not null then
    -- A relay that is telling it something is not heard any more: it would say how far it is, and be further than this.
    update writ_data.destination x set xid = writ_data.outbox_since(p_since), batch_id = '00000000-0000-0000-0000-000000000000', holder = null, turn = null, held_until = '-infinity' where x.name = p_name and x.xid >= writ_data.outbox_since(p_since);
  else
    select array_agg(u.event_id) into v_dead from writ_data.undelivered u where u.destination = p_name and u.dead_at is not null and (p_events is null or u.event_id = any (p_events));
    update writ_data.undelivered u set dead_at = null, attempts = 0, due_at = v_now where u.destination = p_name and u.event_id = any (v_dead);
    get diagnostics v_n = row_count;
    if not exists (select from writ_data.undelivered u where u.destination = p_name and u.dead_at is not null) then
      perform writ_data.clear_alert('DELIVERY_DEAD', 'destination/' || p_name, p_actor, v_now);
    end if;
  end if;
  perform writ_data.wake_relays(v_now);
  return jsonb_build_object('replayed', v_n);
end $$;
