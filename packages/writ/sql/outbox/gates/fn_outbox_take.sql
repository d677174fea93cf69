-- Gives a relay its next work: a destination of one of its buses, and the events to send to it. The
-- relay has the turn for outbox.turn_sec, or until fn_outbox_done. Other relays skip the
-- destination meanwhile.
-- Callers: writ_engine
-- Answers: {"turn", "destination", "bus", "failures", "config", "retries": [[attempts, event],
--          ...], "events": [event, ...], "blocked": streams of which an earlier event is
--          undelivered, "more", "lag_ms", "turn_ms"}, with events as fn_outbox_read has them.
--          Retries come first, then new events. If the retries fill the turn, there are no new
--          events, so the list of undelivered events of a slow destination stays short. Without
--          work {"idle": true, "next_ms"}; then the next recorded fact wakes the relays. A
--          destination whose events cannot be read is paused, with the alert DESTINATION_PAUSED;
--          the others go on.
-- Refuses: actor_required, tenant_forbidden (a login that is bound to a tenant), invalid_argument
--          (more than 10,000 buses).
-- Locks:   the destination, where no other transaction has it.
create or replace function writ.fn_outbox_take(
  p_relay text,
  p_buses text[],
  p_limit integer default 200
) returns json
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  v_limit integer := least(greatest(coalesce(p_limit, 200), 1), 10000);
  v_token uuid := gen_random_uuid();
  v_turn double precision := (writ_data.setting('outbox.turn_sec'))::double precision;
  v_name text;      -- outside the block: it names the destination that has raised
  v_retries text;
  v_blocked json;
  v_next timestamptz;
  d writ_data.destination;
  v_from record;    -- bounds of what it reads
  w record;
begin
  if coalesce(btrim(p_relay), '') = '' or length(p_relay) > 200 then
    return writ_data.refusal('actor_required');
  elsif writ_data.caller_tenant() is not null then
    return writ_data.refusal('tenant_forbidden', 'Relays follow the events of all tenants.');
  elsif cardinality(p_buses) > 10000 then
    return writ_data.refusal('invalid_argument', 'A relay names at most 10,000 buses.');
  end if;

  -- Try again after each destination that raises and is paused, a few times per call.
  for v_try in 1 .. 10 loop
    begin
      for v_name in
        select x.name from writ_data.destination x
        where x.state = 'active' and x.bus = any (p_buses) and x.retry_at <= v_now
          and (x.held_until <= v_now or x.holder = p_relay)
        order by x.moved_at
      loop
        -- Lock one at a time. A lock on all of them would leave the other relays without work.
        select * into d from writ_data.destination x
        where x.name = v_name and x.state = 'active' and x.bus = any (p_buses)
          and x.retry_at <= v_now and (x.held_until <= v_now or x.holder = p_relay)
        for no key update skip locked;
        continue when not found;
        v_retries := writ_data.outbox_retries(d.name, v_limit, v_now);
        select * into v_from from writ_data.record_bounds(d.position);
        w := writ_data.outbox_window(v_from.start, v_from.horizon, v_from.until, d.types,
          d.tenant_id,
          case when json_array_length(concat('[', v_retries, ']')::json) < v_limit
            then v_limit else 0 end,
          1000);
        w.more := w.more or w.upto is not null and v_from.closed;
        if w.upto is not null and w.events is null and v_retries is null then
          -- No event is for this destination, so only its position moves.
          update writ_data.destination set position = w.upto where name = d.name;
          continue when not w.more;
        end if;
        if w.events is not null or v_retries is not null or w.more then
          update writ_data.destination
          set holder = p_relay, held_until = v_now + v_turn * interval '1 second', turn = v_token,
            turn_end = case when w.upto is null then v_from.start else w.upto end, oldest = w.oldest
          where name = d.name;
          select coalesce(json_agg(distinct u.stream), '[]') into v_blocked
          from writ_data.undelivered u
          where u.destination = d.name and u.stream = any (w.subjects) and u.dead_at is null;
          return concat('{"turn":"', v_token, '","destination":', to_json(d.name),
            ',"bus":"', d.bus, '","failures":', d.failures, ',"config":', d.config,
            ',"retries":[', v_retries, '],"events":[', w.events, '],"blocked":', v_blocked,
            ',"more":', coalesce(w.more, false)::text,
            ',"lag_ms":', coalesce(round(date_part('epoch', v_now - w.oldest) * 1000), 0),
            ',"turn_ms":', round(v_turn * 1000), '}')::json;
        end if;
      end loop;
      exit;
    exception when others then
      if writ_data.is_transient(sqlstate) or v_name is null then
        raise;
      end if;
      update writ_data.destination x
      set state = 'paused', note = 'Its events cannot be read: ' || left(sqlerrm, 400)
      where x.name = v_name;
      perform writ_data.raise_alert('DESTINATION_PAUSED', 'P2', x.tenant_id,
        'destination/' || v_name, jsonb_build_object('sqlstate', sqlstate, 'why', x.note), p_relay,
        v_now)
      from writ_data.destination x
      where x.name = v_name;
    end;
  end loop;

  perform writ_data.relay_idle(v_now);
  -- A destination that pauses, or is another relay's turn, offers no work before that ends.
  select min(
    case when x.free > v_now then x.free else (
      select min(u.due_at) from writ_data.undelivered u
      where u.destination = x.name and u.due_at is not null and u.dead_at is null) end)
  into v_next
  from (
    select y.name, greatest(y.retry_at,
      case when y.holder is distinct from p_relay then y.held_until end) as free
    from writ_data.destination y
    where y.state = 'active' and y.bus = any (p_buses)) x;
  return json_build_object('idle', true, 'next_ms', case when v_next is not null then
    ceil(date_part('epoch', greatest(v_next, v_now) - v_now) * 1000) end);
end $$;
