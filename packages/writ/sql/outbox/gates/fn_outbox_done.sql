-- Stores the outcomes of a relay's deliveries to a destination, and moves the destination's
-- position.
-- Callers: writ_engine
-- p_turn:  the turn that fn_outbox_take gave. The destination's row has its end and its lag.
-- p_moves: whether the position moves to the end of the turn; false: nothing reached the
--          destination.
-- p_outcomes: an array of [event id, stream, number in its run, "ok" | "failed" | "held" | "later",
--          milliseconds, status, reason, retryable, retry after ms]. ok: the receiver accepted the
--          event. later: the relay did not send the event, which stays due. held: an earlier event
--          of its stream has failed. failed: relays try again with growing pauses, and the later
--          events of its stream wait. After outbox.delivery.attempts, or if it is not retryable,
--          the event becomes a dead letter with an alert, and its stream continues. The gate reads
--          stream and number from the record, and ignores an outcome for an event that does not
--          belong to this destination.
-- p_trouble: down, or gone for good. While a destination accepts nothing, the gate does not count
--          attempts against its events. The destination waits with growing pauses, and a webhook is
--          paused after outbox.pause_after such calls. p_reason describes the trouble.
-- Answers: {delivered, failed, dead, paused}.
-- Refuses: destination_not_found, not_the_relay (another relay has the turn), invalid_argument.
-- Locks:   the destination.
create or replace function writ.fn_outbox_done(
  p_destination text,
  p_turn uuid,
  p_moves boolean,
  p_outcomes json,
  p_trouble text default null,
  p_reason text default null
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_now timestamptz := writ.now();
  v_moves boolean := coalesce(p_moves, false);
  v_most integer := (writ_data.setting('outbox.delivery.attempts'))::integer;
  v_base double precision := (writ_data.setting('outbox.delivery.backoff_ms'))::double precision;
  v_longest double precision :=
    (writ_data.setting('outbox.delivery.backoff_max_ms'))::double precision;
  d writ_data.destination;
  v_ok integer;
  v_failed integer;
  v_wait double precision;    -- the longest that the destination has asked for
  v_dead uuid[];
  v_behind uuid[];            -- streams with one that has failed
  v_over uuid[];              -- streams with one that is out of the way
  v_down boolean;
  v_pause boolean := false;
  v_note text;
begin
  -- Lock, and check under the lock.
  select * into d from writ_data.destination x where x.name = p_destination for no key update;
  if not found then
    return writ_data.refusal('destination_not_found', left(p_destination, 200));
  elsif d.turn is distinct from p_turn or p_turn is null then
    return writ_data.refusal('not_the_relay', p_destination);
  elsif coalesce(json_typeof(p_outcomes), '') <> 'array' then
    return writ_data.refusal('invalid_argument', 'p_outcomes is an array.');
  elsif json_array_length(p_outcomes) > 100000 then
    return writ_data.refusal('invalid_argument', 'A turn has at most 100,000 outcomes.');
  end if;

  with told as materialized (
    select distinct on (t.id) t.*
    from (
      select (o.o ->> 0)::uuid as id, o.o ->> 3 as how,
        writ_data.clamped(o.o ->> 4, 2147483647)::integer as ms,
        writ_data.clamped(o.o ->> 5, 999)::integer as status,
        left(o.o ->> 6, 500) as reason, coalesce((o.o ->> 7)::boolean, true) as again,
        -- A receiver may request any pause; the longest is a day.
        writ_data.clamped(o.o ->> 8, 86400000)::double precision as wait, o.n
      from json_array_elements(p_outcomes) with ordinality o(o, n)) t
    where t.id is not null and t.how in ('ok', 'failed', 'held', 'later')
    order by t.id, t.n
  ), given as materialized (
    select t.*, f.subject as stream, f.run_seq as seq
    from told t
    left join lateral (
      select x.* from writ_data.outbox_fact(t.id) x where t.how <> 'ok') f on true
    where t.how = 'ok'
      or f.type like any (writ_data.outbox_patterns(d.types))
        and (d.tenant_id is null or f.tenant = d.tenant_id)
  ), logged as (
    insert into writ_data.delivery (delivery_id, destination, tenant_id, event_id, attempt, at, ms,
      ok, status, reason)
    select writ_data.uuidv7(), p_destination, d.tenant_id, g.id,
      coalesce((
        select u.attempts from writ_data.undelivered u
        where u.destination = p_destination and u.event_id = g.id), 0) + 1,
      v_now, g.ms, g.how = 'ok', g.status, g.reason
    from given g
    where g.how in ('ok', 'failed')
  ), counts as materialized (
    select count(*) filter (where g.how = 'ok') as ok,
      count(*) filter (where g.how = 'failed') as failed, max(g.wait) as wait,
      -- Attempts count only while the destination accepts something.
      d.failures = 0 or count(*) filter (where g.how = 'ok') > 0 as counting
    from given g
  ), over as (
    delete from writ_data.undelivered u using given g
    where g.how = 'ok' and u.destination = p_destination and u.event_id = g.id
    returning u.stream
  ), waiting as (
    insert into writ_data.undelivered as u (destination, event_id, stream, run_seq, attempts,
      due_at, status, reason, dead_at)
    select p_destination, g.id, g.stream, g.seq, case g.how when 'failed' then 1 else 0 end,
      case g.how
        when 'later' then v_now
        when 'failed' then v_now
          + coalesce(g.wait, v_base * (0.5 + random() / 2)) * interval '1 millisecond'
      end,
      g.status, g.reason,
      case when g.how = 'failed'
        and (not g.again or v_most = 1 and (select c.counting from counts c)) then v_now end
    from given g
    where g.how <> 'ok' and (v_moves or exists (
      select from writ_data.undelivered x
      where x.destination = p_destination and x.event_id = g.id))
    order by g.n
    on conflict (destination, event_id) do update
    set attempts = u.attempts + case
        when excluded.attempts = 1 and (select c.counting from counts c) then 1 else 0 end,
      -- An undelivered event that is replayed and held keeps its time of the next attempt.
      due_at = case
        when excluded.due_at is null and u.dead_at is null then u.due_at
        when excluded.attempts = 0 then least(u.due_at, excluded.due_at)
        else v_now + greatest(date_part('epoch', excluded.due_at - v_now) * 1000,
          least(v_longest, v_base * 2 ^ least(u.attempts, 30)) * (0.5 + random() / 2))
          * interval '1 millisecond'
      end,
      status = coalesce(excluded.status, u.status),
      reason = coalesce(excluded.reason, u.reason),
      dead_at = case when excluded.attempts = 1 and (excluded.dead_at is not null
        or u.attempts + 1 >= v_most and (select c.counting from counts c)) then v_now end
    returning u.event_id, u.stream, u.dead_at, u.due_at
  )
  select c.ok, c.failed, c.wait,
    (select array_agg(w.event_id) from waiting w where w.dead_at is not null),
    (select array_agg(distinct w.stream) from waiting w
      where w.dead_at is null and w.due_at is not null),
    (select array_agg(distinct s.stream) from (
      select o.stream from over o
      union all
      select w.stream from waiting w where w.dead_at is not null) s)
  into v_ok, v_failed, v_wait, v_dead, v_behind, v_over
  from counts c;

  if v_failed > 0 then
    -- Later events of a stream wait for the failed one.
    update writ_data.undelivered u set due_at = null
    from (
      select x.stream, min(x.place) as place
      from writ_data.undelivered x
      where x.destination = p_destination and x.stream = any (v_behind) and x.dead_at is null
      group by x.stream) f
    where u.destination = p_destination and u.stream = f.stream and u.place > f.place
      and u.dead_at is null and u.due_at is not null;
  end if;
  if v_over is not null then
    perform writ_data.streams_go_on(p_destination, v_over, v_now);
  end if;
  if v_dead is not null then
    perform writ_data.raise_alert('DELIVERY_DEAD', 'P2', d.tenant_id,
      'destination/' || p_destination,
      jsonb_build_object('event', v_dead[1], 'events', cardinality(v_dead)), d.holder, v_now);
  end if;

  -- The destination itself.
  v_down := v_ok = 0 and (v_failed > 0 or p_trouble is not null);
  v_pause := v_down and d.bus = 'webhook' and (p_trouble = 'gone'
    or d.failures + 1 >= (writ_data.setting('outbox.pause_after'))::integer);
  v_note := case
    when p_trouble = 'gone' then 'It answered that it is gone.'
    when v_pause then concat_ws(' ', format('It accepted nothing in %s calls.', d.failures + 1),
      'The last time: ' || left(p_reason, 500))
    when v_down then left(p_reason, 500)
    when v_ok = 0 then d.note
  end;
  update writ_data.destination
  set position = case when v_moves then turn_end else position end,
    held_until = '-infinity', turn = null, moved_at = v_now,
    failures = case when v_down then failures + 1 when v_ok > 0 then 0 else failures end,
    failing_since = case
      when v_down then coalesce(failing_since, v_now)
      when v_ok > 0 then null
      else failing_since
    end,
    retry_at = case
      when v_down then v_now + greatest(coalesce(v_wait, 0),
        least(v_longest, v_base * 2 ^ least(failures, 30)) * (0.5 + random() / 2))
        * interval '1 millisecond'
      else '-infinity'
    end,
    state = case when v_pause then 'paused' else state end, note = v_note
  where name = p_destination;
  if v_pause then
    perform writ_data.raise_alert('DESTINATION_PAUSED', 'P2', d.tenant_id,
      'destination/' || p_destination, jsonb_build_object('why', v_note), d.holder, v_now);
  end if;
  if d.oldest < v_now
    - (writ_data.setting('outbox.lag_alert_sec'))::double precision * interval '1 second' then
    perform writ_data.raise_alert('OUTBOX_LAG_HIGH', 'P2', d.tenant_id,
      'destination/' || p_destination,
      jsonb_build_object('lag_ms', round(date_part('epoch', v_now - d.oldest) * 1000)), d.holder,
      v_now);
  elsif exists (
    select from writ_data.alert a
    where a.code = 'OUTBOX_LAG_HIGH' and a.subject = 'destination/' || p_destination
      and a.cleared_at is null) then
    perform writ_data.clear_alert('OUTBOX_LAG_HIGH', 'destination/' || p_destination, d.holder,
      v_now);
  end if;
  return jsonb_build_object('delivered', v_ok, 'failed', v_failed,
    'dead', coalesce(cardinality(v_dead), 0), 'paused', v_pause);
exception when data_exception then
  return writ_data.refusal('invalid_argument', left(sqlerrm, 200));
end $$;
