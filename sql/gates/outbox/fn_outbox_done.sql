-- What became of what a relay has sent to a destination: p_outcomes is an array of [event id, stream, number in its run, "ok" | "failed" | "held" | "later", milliseconds, status, reason, retryable, retry after ms]. Accepted: it is over. Later: it was not sent, and is due. Held: one before it in its stream has failed. Failed: it is tried again, later and
-- later, with those of its stream behind it; after outbox.delivery.attempts, or where trying again is useless, it is a dead letter, with an alert, and its stream goes on. While a destination accepts nothing at all, that is no fault of
-- the event: the tries are not counted, the destination waits longer and longer, and a webhook is paused after outbox.pause_after such calls. p_xid and p_batch_id: how far it is; null: as far as before, because nothing reached it; p_trouble says so: down, or gone for good; p_reason in words, for whoever looks at a destination that accepts nothing.
-- Only who has the turn is heard. Answers {delivered, failed, dead, paused}.
-- Callers: writ_engine
create or replace function writ.fn_outbox_done(p_relay text, p_destination text, p_xid xid8, p_batch_id uuid, p_outcomes json, p_lag_ms double precision default 0, p_trouble text default null, p_reason text default null) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  v_now timestamptz := writ.now(); d writ_data.destination; v_ok integer; v_failed integer; v_most integer := (writ_data.setting('outbox.delivery.attempts'))::integer; v_base double precision := (writ_data.setting('outbox.delivery.backoff_ms'))::double precision;
  v_longest double precision := (writ_data.setting('outbox.delivery.backoff_max_ms'))::double precision; v_down boolean; v_dead uuid[]; v_over uuid[]; v_behind uuid[]; v_wait double precision; v_pause boolean := false; v_note text;
begin
  select * into d from writ_data.destination x where x.name = p_destination for no key update;
  if not found then
    return writ_data.refusal('destination_not_found', p_destination);
  elsif d.holder is distinct from p_relay then
    return writ_data.refusal('not_the_relay', p_destination);
  end if;
  with given as materialized (
    select (o.o ->> 0)::uuid as id, (o.o ->> 1)::uuid as stream, (o.o ->> 2)::integer as seq, o.o ->> 3 as how, (o.o ->> 4)::integer as ms, (o.o ->> 5)::integer as status, left(o.o ->> 6, 500) as reason, coalesce((o.o ->> 7)::boolean, true) as again,
      (o.o ->> 8)::double precision as wait, o.n
    from json_array_elements(p_outcomes) with ordinality o(o, n)
  ), logged as (
    insert into writ_data.delivery (delivery_id, destination, event_id, attempt, at, ms, ok, status, reason)
    select writ_data.uuidv7(), p_destination, g.id, coalesce((select u.attempts from writ_data.undelivered u where u.destination = p_destination and u.event_id = g.id), 0) + 1, v_now, g.ms, g.how = 'ok', g.status, g.reason from given g where g.how in ('ok', 'failed')
  ), counts as materialized (
    select count(*) filter (where g.how = 'ok') as ok, count(*) filter (where g.how = 'failed') as failed, max(g.wait) as wait from given g
  ), over as (
    delete from writ_data.undelivered u using given g where g.how = 'ok' and u.destination = p_destination and u.event_id = g.id returning u.stream
  ), waiting as (
    insert into writ_data.undelivered as u (destination, event_id, stream, run_seq, attempts, due_at, status, reason, dead_at)
    select p_destination, g.id, g.stream, g.seq, case g.how when 'failed' then 1 else 0 end, case g.how when 'later' then v_now when 'failed' then v_now + coalesce(g.wait, v_base * (0.5 + random() / 2)) * interval '1 millisecond' end, g.status, g.reason,
      case when g.how = 'failed' and (not g.again or v_most = 1 and (d.failures = 0 or (select c.ok > 0 from counts c))) then v_now end
    from given g where g.how <> 'ok' and (p_xid is not null or exists (select from writ_data.undelivered x where x.destination = p_destination and x.event_id = g.id)) order by g.n
    on conflict (destination, event_id) do update set
      attempts = u.attempts + case when excluded.attempts = 1 and (d.failures = 0 or (select c.ok > 0 from counts c)) then 1 else 0 end,
      -- One that is told again while it is undelivered, and is held, is tried when it was to be tried.
      due_at = case when excluded.due_at is null and u.dead_at is null then u.due_at when excluded.attempts = 0 then least(u.due_at, excluded.due_at) else v_now + greatest(date_part('epoch', excluded.due_at - v_now) * 1000, least(v_longest, v_base * 2 ^ least(u.attempts, 30)) * (0.5 + random() / 2)) * interval '1 millisecond' end,
      status = coalesce(excluded.status, u.status), reason = coalesce(excluded.reason, u.reason),
      dead_at = case when excluded.attempts = 1 and (excluded.dead_at is not null or u.attempts + 1 >= v_most and (d.failures = 0 or (select c.ok > 0 from counts c))) then v_now end
    returning u.event_id, u.stream, u.dead_at, u.due_at
  )
  select c.ok, c.failed, c.wait, (select array_agg(w.event_id) from waiting w where w.dead_at is not null),
    (select array_agg(distinct w.stream) from waiting w where w.dead_at is null and w.due_at is not null),
    (select array_agg(distinct s.stream) from (select o.stream from over o union all select w.stream from waiting w where w.dead_at is not null) s)
  into v_ok, v_failed, v_wait, v_dead, v_behind, v_over from counts c;
  if v_failed > 0 then
    -- What stands behind one that has failed waits for it.
    update writ_data.undelivered u set due_at = null
    from (select x.stream, min(x.place) as place from writ_data.undelivered x where x.destination = p_destination and x.stream = any (v_behind) and x.dead_at is null group by x.stream) f
    where u.destination = p_destination and u.stream = f.stream and u.place > f.place and u.dead_at is null and u.due_at is not null;
  end if;
  if v_over is not null then
    perform writ_data.streams_go_on(p_destination, v_over, v_now);
  end if;
  if v_dead is not null then
    perform writ_data.raise_alert('DELIVERY_DEAD', 'P2', d.tenant_id, 'destination/' || p_destination, jsonb_build_object('event', v_dead[1], 'events', cardinality(v_dead)), p_relay, v_now);
  end if;

  v_down := v_ok = 0 and (v_failed > 0 or p_trouble is not null);
  v_pause := v_down and d.bus = 'webhook' and (p_trouble = 'gone' or d.failures + 1 >= (writ_data.setting('outbox.pause_after'))::integer);
  v_note := case when p_trouble = 'gone' then 'It answered that it is gone.' when v_pause then concat_ws(' ', format('It accepted nothing in %s calls.', d.failures + 1), 'The last time: ' || left(p_reason, 500)) when v_down then left(p_reason, 500) when v_ok = 0 then d.note end;
  update writ_data.destination set xid = coalesce(p_xid, xid), batch_id = coalesce(p_batch_id, batch_id), held_until = '-infinity', moved_at = v_now,
    failures = case when v_down then failures + 1 when v_ok > 0 then 0 else failures end, failing_since = case when v_down then coalesce(failing_since, v_now) when v_ok > 0 then null else failing_since end,
    retry_at = case when v_down then v_now + greatest(coalesce(v_wait, 0), least(v_longest, v_base * 2 ^ least(failures, 30)) * (0.5 + random() / 2)) * interval '1 millisecond' else '-infinity' end,
    state = case when v_pause then 'paused' else state end, note = v_note
  where name = p_destination;
  if v_pause then
    perform writ_data.raise_alert('DESTINATION_PAUSED', 'P2', d.tenant_id, 'destination/' || p_destination, jsonb_build_object('why', v_note), p_relay, v_now);
  end if;
  if p_lag_ms > (writ_data.setting('outbox.lag_alert_sec'))::double precision * 1000 then
    perform writ_data.raise_alert('OUTBOX_LAG_HIGH', 'P2', d.tenant_id, 'destination/' || p_destination, jsonb_build_object('lag_ms', round(p_lag_ms)), p_relay, v_now);
  elsif exists (select from writ_data.alert a where a.code = 'OUTBOX_LAG_HIGH' and a.subject = 'destination/' || p_destination and a.cleared_at is null) then
    perform writ_data.clear_alert('OUTBOX_LAG_HIGH', 'destination/' || p_destination, p_relay, v_now);
  end if;
  return jsonb_build_object('delivered', v_ok, 'failed', v_failed, 'dead', coalesce(cardinality(v_dead), 0), 'paused', v_pause);
end $$;
