-- Writes what a driver has decided about governors, all of it or nothing.
-- Callers: writ_engine
-- Answers: {}.
-- Raises:  WR001 governor_moved, if a governor is not at the revision that was decided on;
--          WR001 invalid_turn, if the turn does not fit the rows of its governors.
-- Locks:   the governors, in the order of their ids.
--
-- The driver words, the gate frames. p_turn is
--   {governors: [{id, rev, data, waiting}],   data and waiting only where they changed
--    events:    [{g, doc, state}],            g: place in governors; doc: the event as RFC 8785 text
--    receipts:  [{e, r}],                     e: place in events; r: the receipt as RFC 8785 text
--    effects:   [{e, type, ...}],             see governor_effect
--    wakes:     [{id, at}]}                   when a driver has to look again, in milliseconds
-- Ids, numbers, log, tenant, stream, times and the hash over all inputs follow from rows that are
-- locked here. An event repeats the mail that it is about, a receipt its event. Every signal that
-- was read is settled by a receipt of this turn, or waits. Verification decides again for the rest.
create or replace function writ.fn_governors_apply(
  p_turn jsonb,
  p_actor text
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_xid xid8 := pg_current_xact_id(); -- before a receipt takes its number: see append_receipts
  v_now timestamptz := writ.now();
  v_ms bigint := floor(extract(epoch from v_now) * 1000);
  v_tenant text := writ_data.caller_tenant();
  v_wrong text;                       -- the first thing that does not fit

  -- By place in governors: as the driver hands them in, and as they are.
  v_ids uuid[];
  v_revs bigint[];
  v_new_data jsonb[];
  v_new_waiting jsonb[];
  v_found uuid[];
  v_tenants text[];
  v_skus text[];
  v_events bigint[];
  v_receipts bigint[];
  v_done bigint[];
  v_mail_at timestamptz[];
  v_last bigint[];
  v_states text[];
  v_hashes bytea[];
  v_due timestamptz[];
  v_data jsonb[];
  v_waiting jsonb[];
  v_crashed boolean[];                -- often enough for an event to be set aside
  v_policies jsonb[];                 -- the policy in force: {version, hash, shadow, policy_id}
  v_ends integer[];                   -- the last of its events

  -- By place in events.
  v_of integer[];
  v_docs text[];
  v_at bigint[];
  v_times text[];
  v_read bigint[];                    -- how far its mailbox has been read
  v_read_at timestamptz[];
  v_arrivals bigint[];                -- the signal that was read
  v_state text[];
  v_moved boolean[];
  v_event_ids uuid[];
  v_published jsonb[];                -- the policy that it publishes, or null for none any more
  v_in_force integer[];
  v_hash text[];

  -- What receipts settle: of which governor, from which signal to which, and by which receipt.
  v_settled_of integer[];
  v_settled_from bigint[];
  v_settled_to bigint[];
  v_settled_by uuid[];

  v_receipt_of integer[];
  v_n integer;
  v_g integer;
  v_details jsonb;
  v_movers uuid[];
begin
  -- Lock.
  select array_agg(u.id), array_agg(u.rev), array_agg(u.data), array_agg(u.waiting)
  into v_ids, v_revs, v_new_data, v_new_waiting
  from jsonb_to_recordset(p_turn -> 'governors') u(id uuid, rev bigint, data jsonb, waiting jsonb);

  perform from writ_data.governor g
  where g.governor_id = any (v_ids)
  order by g.governor_id
  for no key update;

  select array_agg(g.governor_id), array_agg(g.tenant_id), array_agg(g.sku_id),
    array_agg(g.events), array_agg(g.receipts), array_agg(g.mail_done), array_agg(g.mail_at),
    array_agg((extract(epoch from greatest(g.last_at, 'epoch')) * 1000)::bigint),
    array_agg(g.state), array_agg(g.inputs_hash), array_agg(g.due_at), array_agg(g.data),
    array_agg(g.waiting), array_agg(cardinality(g.crashes) > 0),
    array_agg(coalesce(g.data -> 'policy', 'null'))
  into v_found, v_tenants, v_skus, v_events, v_receipts, v_done, v_mail_at, v_last, v_states,
    v_hashes, v_due, v_data, v_waiting, v_crashed, v_policies
  from unnest(v_ids) u(id)
  join writ_data.governor g on g.governor_id = u.id
  where coalesce(v_tenant, g.tenant_id) = g.tenant_id;

  if v_found is distinct from v_ids or v_events is distinct from v_revs then
    raise exception using errcode = 'WR001', message = 'governor_moved',
      detail = format('One of %s governors is not where it was.', coalesce(cardinality(v_ids), 0));
  elsif cardinality(v_ids) > (select count(distinct id) from unnest(v_ids) id) then
    raise exception using errcode = 'WR001', message = 'invalid_turn',
      detail = 'A governor is named twice.';
  end if;

  if true = any (v_crashed) then
    v_crashed := array(
      select writ_data.crash_count(g.crashes, v_now)
        >= (writ_data.setting('governor.crashes'))::integer
      from unnest(v_ids) with ordinality u(id, n)
      join writ_data.governor g on g.governor_id = u.id
      order by u.n);
  end if;

  -- Events: each is the next of its governor, and repeats the mail that it is about.
  with said as materialized (
    select x.n, x.g, x.doc, x.state, x.d, x.d -> 'content' as content,
      (x.d ->> 'at')::bigint as at, x.d ->> 'from' as source,
      (x.d ->> 'mail_seq')::bigint as mail_seq
    from (
      select y.n, y.g, y.doc, y.state, y.doc::jsonb as d
      from rows from (
        jsonb_to_recordset(p_turn -> 'events') as (g integer, doc text, state text)
      ) with ordinality y(g, doc, state, n)
      offset 0
    ) x
  ), placed as materialized (
    select s.*, s.content ->> 'kind' as kind, row_number() over w as nth,
      coalesce(lag(s.state) over w, v_states[s.g]) as was,
      coalesce(lag(s.at) over w, v_last[s.g]) as after_at,
      v_done[s.g] + count(*) filter (where s.source = 'mailbox') over w as read
    from said s
    window w as (partition by s.g order by s.n)
  ), checked as materialized (
    select p.*, v_events[p.g] + p.nth as seq, m.at as arrived_at, m.arrival_seq,
      p.kind in ('crash', 'mismatch') as aside,
      case
        when v_ids[p.g] is null then 'governor'
        when (p.d ->> 'event_seq')::bigint is distinct from v_events[p.g] + p.nth then 'number'
        when p.at is null or p.at < p.after_at or p.at > greatest(v_ms + 1000, p.after_at) then 'time'
        when (p.was is not distinct from p.state
          or writ_data.governor_moves(p.was, case p.kind when 'timer' then p.content ->> 'timer'
            else p.kind end, p.state)) is not true then 'move'
        when p.d - '{event_seq,at,decide,from,mail_seq,arrived_at,due_at,content,answers}'::text[]
          <> '{}' then 'fields'
        when p.kind = 'crash' and not (v_crashed[p.g] and p.nth = 1) then 'crash'
        when p.source = 'mailbox' and p.mail_seq is distinct from p.read then 'place in the mailbox'
        when p.source = 'mailbox' and (p.d ->> 'arrived_at')::bigint
          is distinct from (extract(epoch from m.at) * 1000)::bigint then 'arrival'
        when p.mail_seq is not null and (m.mail_seq is null or p.mail_seq > p.read) then 'mail'
        when p.kind in ('crash', 'mismatch') then case
          when (p.content ->> 'arrival_seq')::bigint is distinct from m.arrival_seq then 'signal' end
        when p.mail_seq is not null then case
          when p.content is distinct from case when m.arrival_seq is null then m.content
            else m.content || jsonb_build_object('kind', 'signal', 'arrival_seq', m.arrival_seq) end
            then 'content' end
        when (p.source = 'timer' and p.kind = 'timer' and (p.d ->> 'due_at')::bigint <= p.at
          or p.source = 'inserted' and p.kind in ('verify', 'act')
          or p.source = 'host' and p.kind = 'health_failed') is not true then 'source'
      end as wrong
    from placed p
    left join writ_data.governor_mail m on m.governor_id = v_ids[p.g] and m.mail_seq = p.mail_seq
      and m.at >= case p.source when 'mailbox' then v_mail_at[p.g] else '-infinity' end
  ), written as (
    insert into writ_data.governor_event
      (governor_id, event_seq, at, kind, mail_seq, from_state, state, added)
    select v_ids[c.g], c.seq, to_timestamp(c.at / 1000.0),
      case c.kind when 'timer' then 'timer_' || (c.content ->> 'timer') else c.kind end,
      c.mail_seq, c.was, c.state,
      nullif((c.d - '{event_seq,at,mail_seq,arrived_at}'::text[]
        - case when c.mail_seq is null or c.aside then '' else 'content' end)::text,
        '{"from": "mailbox", "decide": 1}')
    from checked c
    where c.wrong is null
  )
  select array_agg(c.g), array_agg(c.doc), array_agg(c.at),
    array_agg(to_char(to_timestamp(c.at / 1000.0) at time zone 'UTC',
      'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')),
    array_agg(c.read), array_agg(case c.source when 'mailbox' then c.arrived_at end),
    array_agg(case c.source when 'mailbox' then c.arrival_seq end), array_agg(c.state),
    array_agg(c.was is distinct from c.state),
    array_agg(writ_data.shaped_uuid(sha256(uuid_send(v_ids[c.g]) || int8send(c.seq)), 4)),
    array_agg(case when c.kind <> 'policy' then null
      when jsonb_typeof(c.content -> 'policy') = 'null' then 'null'
      else (c.content -> 'policy') - 'document'
        || jsonb_build_object('policy_id', c.content #> '{policy,document,policy_id}') end),
    min(format('Event %s of governor %s: %s.', c.seq, v_ids[c.g], c.wrong))
      filter (where c.wrong is not null)
  into v_of, v_docs, v_at, v_times, v_read, v_read_at, v_arrivals, v_state, v_moved, v_event_ids,
    v_published, v_wrong
  from checked c;

  if v_wrong is not null then
    raise exception using errcode = 'WR001', message = 'invalid_turn', detail = v_wrong;
  end if;

  -- The hash over all inputs, and the version of the policy that is in force at each event.
  v_ends := array_fill(0, array[coalesce(cardinality(v_ids), 0)]);
  for v_e in 1 .. coalesce(cardinality(v_of), 0) loop
    if v_of[v_e] < v_g then
      raise exception using errcode = 'WR001', message = 'invalid_turn',
        detail = 'The events of a governor are apart.';
    end if;
    v_g := v_of[v_e];
    v_hashes[v_g] := sha256(v_hashes[v_g] || convert_to(v_docs[v_e], 'UTF8'));
    v_hash[v_e] := encode(v_hashes[v_g], 'hex');
    if v_published[v_e] is not null then
      v_policies[v_g] := v_published[v_e];
    end if;
    v_in_force[v_e] := v_policies[v_g] ->> 'version';
    v_events[v_g] := v_events[v_g] + 1;
    v_mail_at[v_g] := coalesce(v_read_at[v_e], v_mail_at[v_g]);
    v_ends[v_g] := v_e;
  end loop;
  if 0 = any (v_ends) then
    raise exception using errcode = 'WR001', message = 'invalid_turn',
      detail = 'A governor has no event.';
  end if;

  -- Receipts: of their event, in the stream of its governor. Not by append_receipts, which would
  -- parse each of them once more.
  with said as materialized (
    select x.e, x.entry, x.r, x.r -> 'context' as c,
      row_number() over (partition by v_of[x.e] order by x.n) as nth,
      row_number() over (partition by x.e order by x.n) - 1 as ordinal
    from (
      select y.n, y.e, y.r as entry, y.r::jsonb as r
      from rows from (jsonb_to_recordset(p_turn -> 'receipts') as (e integer, r text))
        with ordinality y(e, r, n)
      offset 0
    ) x
  ), framed as materialized (
    select s.e, s.entry, s.r, s.c, v_of[s.e] as g, v_receipts[v_of[s.e]] + s.nth as seq,
      'governor:' || v_skus[v_of[s.e]] as stream, s.c ->> 'terminal' = 'true' as terminal,
      writ_data.shaped_uuid(sha256(uuid_send(v_event_ids[s.e]) || int4send(s.ordinal::integer)), 4)
        as id
    from said s
  ), written as (
    insert into writ_data.receipt (at, log_id, stream, stream_seq, receipt_id, entry, leaf_hash)
    select v_now, v_tenants[f.g], f.stream, f.seq, f.id, f.entry,
      sha256('\x00'::bytea || convert_to(f.entry, 'UTF8'))
    from framed f
    where f.r - 'context' = jsonb_build_object('receipt_id', f.id, 'timestamp', v_times[f.e],
        'sku_id', v_skus[f.g], 'tenant_id', v_tenants[f.g],
        'status', f.r -> 'status', 'reason', f.r -> 'reason')
      and f.c @> jsonb_build_object('stream', f.stream, 'stream_seq', f.seq,
        'event_id', v_event_ids[f.e], 'inputs_hash', v_hash[f.e])
      and writ_data.governor_writes(f.r ->> 'reason', f.r ->> 'status', coalesce(f.terminal, false))
      and octet_length(f.entry) <= 65536
    returning 1
  ), settled as materialized (
    select f.g, f.id, t.first, t.last
    from framed f
    cross join lateral (
      select (f.c ->> 'arrival_seq')::bigint as first, (f.c ->> 'arrival_seq')::bigint as last
      where not f.c ? 'arrival_ranges'
      union all
      select (a.r ->> 0)::bigint, (a.r ->> 1)::bigint
      from jsonb_array_elements(f.c -> 'arrival_ranges') a(r)
    ) t
    where f.terminal
  )
  select (select array_agg(f.g) from framed f), (select count(*) from written),
    array_agg(s.g), array_agg(s.first), array_agg(s.last), array_agg(s.id)
  into v_receipt_of, v_n, v_settled_of, v_settled_from, v_settled_to, v_settled_by
  from settled s;

  if v_n < coalesce(cardinality(v_receipt_of), 0) then
    raise exception using errcode = 'WR001', message = 'invalid_turn',
      detail = format('%s of %s receipts are not of their events.',
        cardinality(v_receipt_of) - v_n, cardinality(v_receipt_of));
  end if;

  foreach v_g in array coalesce(v_receipt_of, '{}') loop
    v_receipts[v_g] := v_receipts[v_g] + 1;
  end loop;

  -- Signals: what waited and what was read is what was settled and what waits now, each once.
  with signal as (
    select u.g, 'read' as place, u.arrival as first, u.arrival as last
    from unnest(v_of, v_arrivals) u(g, arrival)
    where u.arrival is not null
    union all
    select u.g, 'settled', u.first, u.last
    from unnest(v_settled_of, v_settled_from, v_settled_to) u(g, first, last)
    union all
    select u.g::integer, 'waited', h.arrival_seq, h.arrival_seq + h.n - 1
    from unnest(v_data, v_waiting) with ordinality u(data, waiting, g)
    cross join lateral writ_data.held_signals(u.data, u.waiting) h
    where writ_data.holds_signals(u.data, u.waiting)
    union all
    select u.g::integer, 'waits', h.arrival_seq, h.arrival_seq + h.n - 1
    from unnest(v_ids, v_data, v_waiting, v_new_data, v_new_waiting)
      with ordinality u(id, data, waiting, new_data, new_waiting, g)
    cross join lateral writ_data.held_signals(coalesce(u.new_data, u.data),
      coalesce(u.new_waiting, u.waiting)) h
    where writ_data.holds_signals(coalesce(u.new_data, u.data), coalesce(u.new_waiting, u.waiting))
  )
  select format('Signals of governor %s are lost, or settled twice.', v_ids[min(y.g)]) into v_wrong
  from (
    select s.g,
      range_agg(int8range(s.first, s.last, '[]')) filter (where s.place in ('read', 'waited')) as came,
      range_agg(int8range(s.first, s.last, '[]')) filter (where s.place = 'settled') as settled,
      range_agg(int8range(s.first, s.last, '[]')) filter (where s.place = 'waits') as waits
    from signal s
    group by s.g
  ) y
  where coalesce(y.came, '{}') <> coalesce(y.settled, '{}') + coalesce(y.waits, '{}')
    or coalesce(y.settled, '{}') && coalesce(y.waits, '{}')
  having count(*) > 0;

  if v_wrong is not null then
    raise exception using errcode = 'WR001', message = 'invalid_turn', detail = v_wrong;
  end if;

  insert into writ_data.governor_settled (governor_id, arrival_seq, receipt_id, at)
  select v_ids[u.g], a, u.id, v_now
  from unnest(v_settled_of, v_settled_from, v_settled_to, v_settled_by) u(g, first, last, id)
  cross join lateral generate_series(u.first, u.last) a;

  -- What a governor knows: who it is, and the policy that was published for it.
  select writ_data.wrong_with_governor(v_ids[u.g], v_tenants[u.g], v_skus[u.g], v_policies[u.g],
    u.was, u.data, u.waiting, v_ms) as wrong
  into v_wrong
  from unnest(v_data, v_new_data, v_new_waiting) with ordinality u(was, data, waiting, g)
  where u.data is not null or u.waiting is not null
    or v_policies[u.g] <> coalesce(u.was -> 'policy', 'null')
  order by wrong
  limit 1;

  if v_wrong is not null then
    raise exception using errcode = 'WR001', message = 'invalid_turn', detail = v_wrong;
  end if;

  -- Write.
  with written as (
    update writ_data.governor g
    set events = v_events[u.g],
      receipts = v_receipts[u.g],
      mail_done = v_read[v_ends[u.g]],
      mail_at = v_mail_at[u.g],
      last_at = to_timestamp(v_at[v_ends[u.g]] / 1000.0),
      state = v_state[v_ends[u.g]],
      inputs_hash = v_hashes[u.g],
      due_at = case when u.waiting is null then g.due_at else writ_data.first_due(u.waiting) end,
      data = coalesce(u.data, g.data),
      waiting = coalesce(u.waiting, g.waiting),
      crashes = '{}',
      crash = null
    from unnest(v_ids, v_new_data, v_new_waiting) with ordinality u(id, data, waiting, g)
    where g.governor_id = u.id
    returning g.governor_id, g.due_at, v_due[u.g] as was_due
  )
  insert into writ_data.governor_due (due_at, governor_id)
  select w.due_at, w.governor_id
  from written w
  where w.due_at <= v_now or w.due_at <> w.was_due or w.due_at is not null and w.was_due is null;

  if p_turn -> 'wakes' <> '[]' then
    insert into writ_data.governor_due (due_at, governor_id)
    select to_timestamp(least(x.at, v_ms + 10000) / 1000.0), g.governor_id
    from jsonb_to_recordset(p_turn -> 'wakes') x(id uuid, at bigint)
    join writ_data.governor g on g.governor_id = x.id and coalesce(v_tenant, g.tenant_id) = g.tenant_id
    where x.at > 0
    limit 5000;
  end if;

  -- Record who went from one state to another.
  if true = any (v_moved) then
    select array_agg(x.id), jsonb_object_agg(x.id, jsonb_build_object('states', x.states))
    into v_movers, v_details
    from (
      select v_ids[u.g] as id, jsonb_agg(u.state order by u.n) as states
      from unnest(v_of, v_state, v_moved) with ordinality u(g, state, moved, n)
      where u.moved
      group by u.g
    ) x;
    perform writ_data.record('fn_governors_apply', p_actor, v_now, v_movers,
      array['governor.state_changed'], array[1], array[cardinality(v_movers)],
      jsonb_build_object('each', v_details));
  end if;

  -- What follows from the decisions.
  if p_turn -> 'effects' <> '[]' then
    v_wrong := writ_data.governor_effects(array(
      select jsonb_build_object(
        'g', v_ids[v_of[x.e]], 't', v_tenants[v_of[x.e]], 's', v_skus[v_of[x.e]],
        'event_id', v_event_ids[x.e], 'at', v_at[x.e], 'version', v_in_force[x.e],
        'was', v_data[v_of[x.e]] - '{over,cooling,storm}'::text[],
        'effect', x.effect)
      from (
        select (y.effect ->> 'e')::integer as e, y.effect - 'e' as effect, y.n
        from jsonb_array_elements(p_turn -> 'effects') with ordinality y(effect, n)
      ) x
      order by x.n), p_actor, v_now);
    if v_wrong is not null then
      raise exception using errcode = 'WR001', message = 'invalid_turn', detail = v_wrong;
    end if;
  end if;
  return '{}';
end $$;
