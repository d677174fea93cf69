-- Writes what a driver has decided about governors, all of it or nothing.
-- Callers: writ_engine
-- Answers: {}.
-- Raises:  WR001 governor_moved, if a governor is not at the revision that was decided on;
--          WR001 invalid_turn, if the turn does not fit the rows of its governors;
--          25000 (require_read_committed).
-- Locks:   the governors, in the order of their ids.
--
-- The driver words, the gate frames. p_turn is
--   {governors: [{id, rev, data, waiting}],   by id; data and waiting only where they changed
--    events:    [{g, doc, state}],            g: place in governors; doc: the event, as RFC 8785
--                                             text
--    receipts:  [{e, r}],                     e: place in events; r: the receipt, likewise
--    effects:   [{e, type, ...}],             see governor_effects
--    wakes:     [{id, at}],                   when a driver has to look again, in milliseconds; no
--                                             time: it has looked, and found nothing to do
--    after}                                   as in fn_governors_take; a hint
-- Ids, numbers, log, tenant, stream, times and the hash over all inputs follow from rows that are
-- locked here. An event repeats the mail that it is about, a receipt its event. Every signal that
-- was read is settled by a receipt of this turn, or waits. Verification decides again for the rest.
--
-- A signal takes this path once, so each check is the cheapest that is exact. Frames are compared
-- as text: jsonb_build_object alone would cost as much as the rest of a comparison.
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
  v_after timestamptz := coalesce((p_turn ->> 'after')::timestamptz, '-infinity');
  v_acts boolean := p_turn -> 'effects' <> '[]';
  v_wakes jsonb := coalesce(p_turn -> 'wakes', '[]');
  v_wrong text;                       -- the first thing that does not fit

  -- By place in governors: as the driver hands them in, and as they are.
  v_ids uuid[];
  v_revs bigint[];
  v_new_data jsonb[];
  v_new_waiting jsonb[];
  v_changes boolean;                  -- whether there is one of these
  v_found uuid[];
  v_tenants text[];
  v_skus text[];
  v_events bigint[];
  v_receipts bigint[];
  v_done bigint[];
  v_mail_at timestamptz[];
  v_last timestamptz[];
  v_states text[];
  v_hashes bytea[];
  v_due timestamptz[];
  v_data jsonb[];                     -- this and the next only if somebody will ask
  v_waiting jsonb[];
  v_crashed boolean[];                -- often enough for an event to be set aside
  v_holds boolean;                    -- whether a signal waits for one of them
  v_policies jsonb[];                 -- the policy that was published last, in this turn

  -- By place in governors: where their last events leave them.
  v_last_event bigint[];
  v_last_read bigint[];
  v_last_at timestamptz[];
  v_last_state text[];

  -- By place in events.
  v_of integer[];
  v_docs text[];
  v_said jsonb[];                     -- v_docs, parsed
  v_times text[];
  v_state text[];
  v_moved boolean[];
  v_event_ids uuid[];
  v_read_at timestamptz[];            -- when the mail came that it is about, if it is new
  v_published jsonb[];                -- the policy that it publishes, or null for none any more
  v_in_force integer[];
  v_hash text[];
  v_aside integer[];                  -- the events that stand in the place of one that failed

  -- Signals that were read, and those that receipts settle: from which to which, by which receipt.
  v_read_of integer[];
  v_read bigint[];
  v_settled_of integer[];
  v_settled_from bigint[];
  v_settled_to bigint[];
  v_settled_by uuid[];

  v_receipt_of integer[];
  v_e integer;
  v_g integer;
  v_crash boolean;
  v_details jsonb;
  v_movers uuid[];
begin
  perform writ_data.require_read_committed();

  -- Lock.
  select array_agg(u.id), array_agg(u.rev), array_agg(u.data), array_agg(u.waiting),
    bool_or(u.data is not null or u.waiting is not null)
  into v_ids, v_revs, v_new_data, v_new_waiting, v_changes
  from jsonb_to_recordset(p_turn -> 'governors') u(id uuid, rev bigint, data jsonb, waiting jsonb);

  if v_ids <> array(select distinct u.id from unnest(v_ids) u(id) order by u.id) then
    raise exception using errcode = 'WR001', message = 'invalid_turn',
      detail = 'A governor is named twice, or they are not in the order of their ids.';
  end if;

  select array_agg(l.governor_id), array_agg(l.tenant_id), array_agg(l.sku_id),
    array_agg(l.events), array_agg(l.receipts), array_agg(l.mail_done), array_agg(l.mail_at),
    array_agg(l.last_at), array_agg(l.state), array_agg(l.inputs_hash), array_agg(l.due_at),
    array_agg(case when l.matters then l.data end),
    array_agg(case when l.matters then l.waiting end),
    array_agg(cardinality(l.crashes) > 0), bool_or(l.holds)
  into v_found, v_tenants, v_skus, v_events, v_receipts, v_done, v_mail_at, v_last, v_states,
    v_hashes, v_due, v_data, v_waiting, v_crashed, v_holds
  from (
    select g.governor_id, g.tenant_id, g.sku_id, g.events, g.receipts, g.mail_done, g.mail_at,
      g.last_at, g.state, g.inputs_hash, g.due_at, g.data, g.waiting, g.crashes, h.holds,
      v_changes or v_acts or h.holds as matters
    from writ_data.governor g
    cross join lateral (select writ_data.holds_signals(g.data, g.waiting) as holds) h
    where g.governor_id = any (v_ids) and coalesce(v_tenant, g.tenant_id) = g.tenant_id
    order by g.governor_id
    for no key update of g
  ) l;

  if v_found is distinct from v_ids or v_events is distinct from v_revs then
    raise exception using errcode = 'WR001', message = 'governor_moved',
      detail = format('One of %s governors is not where it was.', coalesce(cardinality(v_ids), 0));
  end if;

  if true = any (v_crashed) then
    v_crashed := array(
      select writ_data.crash_count(g.crashes, v_now)
        >= (writ_data.setting('governor.crashes'))::integer
      from unnest(v_ids) with ordinality u(id, n)
      join writ_data.governor g on g.governor_id = u.id
      order by u.n);
  end if;

  -- Events: each is the next of its governor, and repeats the mail that it is about. `rest` is what
  -- it adds to its mail; `plain`: nothing.
  select array_agg(y.g), array_agg(y.doc), array_agg(y.state), array_agg(y.doc::jsonb)
  into v_of, v_docs, v_state, v_said
  from jsonb_to_recordset(p_turn -> 'events') y(g integer, doc text, state text);

  with said as (
    select u.n::integer as n, v_of[u.n] as g, v_state[u.n] as state, (u.d ->> 'at')::bigint as ms,
      u.d ->> 'from' as source
    from unnest(v_said) with ordinality u(d, n)
    offset 0
  ), ordered as (
    select s.n, s.g, s.state, s.ms, s.source, to_timestamp(s.ms / 1000::float8) as at,
      row_number() over w as nth,
      row_number() over o as place,
      lead(s.g) over o is distinct from s.g as ends,
      coalesce(lag(s.state) over w, v_states[s.g]) as was,
      lag(s.ms) over w as after_ms,
      v_done[s.g] + count(*) filter (where s.source = 'mailbox') over w as read
    from said s
    window w as (partition by s.g order by s.n), o as (order by s.g, s.n)
    offset 0
  ), placed as (
    select r.*, coalesce(to_timestamp(r.after_ms / 1000::float8), v_last[r.g]) as after_at,
      x.d, x.content, x.mail_seq, x.kind, x.rest,
      x.rest = '{"from": "mailbox", "decide": 2}' as plain
    from ordered r
    cross join lateral (
      select y.d, y.d -> 'content' as content, (y.d ->> 'mail_seq')::bigint as mail_seq,
        y.d #>> '{content,kind}' as kind,
        y.d - '{event_seq,at,mail_seq,arrived_at,content}'::text[] as rest
      from (select v_said[r.n] as d offset 0) y
      offset 0
    ) x
    offset 0
  ), checked as materialized (
    select p.n, p.g, p.ms, p.at, p.state, p.was, p.mail_seq, p.read, p.ends,
      v_events[p.g] + p.nth as seq,
      case p.kind when 'timer' then 'timer_' || (p.content ->> 'timer') else p.kind end as kind,
      case
        when p.mail_seq is null or p.kind in ('crash', 'mismatch')
          then (p.d - '{event_seq,at,mail_seq,arrived_at}'::text[])::text
        when p.plain then '2'
        else p.rest::text
      end as added,
      case
        when p.kind <> 'policy' then null
        when jsonb_typeof(p.content -> 'policy') = 'null' then 'null'
        else (p.content -> 'policy') - 'document'
          || jsonb_build_object('policy_id', p.content #> '{policy,document,policy_id}')
      end as published,
      case p.source when 'mailbox' then m.at end as read_at,
      case p.source when 'mailbox' then m.arrival_seq end as arrival,
      p.kind in ('crash', 'mismatch') as aside,
      case
        when v_ids[p.g] is null then 'governor'
        when p.place <> p.n then 'order'
        when (p.d ->> 'event_seq')::bigint is distinct from v_events[p.g] + p.nth then 'number'
        when (p.at >= p.after_at and p.at <= greatest(v_now + interval '1 second', p.after_at))
          is not true then 'time'
        when (p.was is not distinct from p.state
          or writ_data.governor_moves(p.was, case p.kind when 'timer' then p.content ->> 'timer'
            else p.kind end, p.state)) is not true then 'move'
        when not p.plain and p.rest - '{decide,from,due_at,answers,clock,ids_at}'::text[] <> '{}'
          then 'fields'
        when not p.plain and p.rest ? 'clock' and ((p.d ->> 'clock')::bigint < p.ms
          and (p.d ->> 'clock')::bigint between v_ms - 3600000 and v_ms + 1000) is not true
          then 'clock'
        when p.kind = 'crash' and not (v_crashed[p.g] and p.nth = 1) then 'crash'
        when p.source = 'mailbox' and p.mail_seq is distinct from p.read then 'place in the mailbox'
        when to_timestamp((p.d ->> 'arrived_at')::bigint / 1000::float8)
          is distinct from case p.source when 'mailbox' then m.at end then 'arrival'
        when p.mail_seq is not null and (m.mail_seq is null or p.mail_seq > p.read) then 'mail'
        when p.kind in ('crash', 'mismatch') then
          case when (p.content ->> 'arrival_seq')::bigint is distinct from m.arrival_seq
            then 'signal' end
        when p.mail_seq is not null then case
          when m.arrival_seq is null and p.content is distinct from m.content then 'content'
          when m.arrival_seq is not null and (p.content -> 'arrival_seq' = to_jsonb(m.arrival_seq)
            and p.content - 'arrival_seq' = m.content) is not true then 'content' end
        when (p.source = 'timer' and p.kind = 'timer' and (p.d ->> 'due_at')::bigint <= p.ms
          or p.source = 'inserted' and p.kind in ('verify', 'act')
          or p.source = 'host' and p.kind = 'health_failed'
          or p.source = 'host' and p.kind = 'clock' and (p.content ->> 'back_ms')::bigint
            between 1 and p.ms - (p.d ->> 'clock')::bigint) is not true then 'source'
      end as wrong
    from placed p
    left join lateral (
      select y.mail_seq, y.at, y.arrival_seq, y.content
      from writ_data.governor_mail y
      where y.governor_id = v_ids[p.g] and y.mail_seq = p.mail_seq
        and y.at >= case p.source when 'mailbox' then v_mail_at[p.g] else '-infinity' end
      limit 1 -- no later month is asked
    ) m on true
  ), written as (
    insert into writ_data.governor_event
      (governor_id, event_seq, at, kind, mail_seq, from_state, state, added)
    select v_ids[c.g], c.seq, c.at, c.kind, c.mail_seq, c.was, c.state, c.added
    from checked c
    where c.wrong is null
  )
  select array_agg(to_char(c.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')),
    array_agg(c.was is distinct from c.state),
    array_agg(writ_data.shaped_uuid(sha256(uuid_send(v_ids[c.g]) || int8send(c.seq)), 4)),
    array_agg(c.read_at), array_agg(c.published),
    array_agg(c.n) filter (where c.aside),
    array_agg(c.g) filter (where c.arrival is not null),
    array_agg(c.arrival) filter (where c.arrival is not null),
    array_agg(c.seq) filter (where c.ends), array_agg(c.read) filter (where c.ends),
    array_agg(c.at) filter (where c.ends), array_agg(c.state) filter (where c.ends),
    min(format('Event %s of governor %s: %s.', c.seq, v_ids[c.g], c.wrong))
      filter (where c.wrong is not null)
  into v_times, v_moved, v_event_ids, v_read_at, v_published, v_aside, v_read_of, v_read,
    v_last_event, v_last_read, v_last_at, v_last_state, v_wrong
  from checked c;

  if v_wrong is null and cardinality(v_last_event) is distinct from cardinality(v_ids) then
    v_wrong := 'A governor has no event.';
  end if;
  if v_wrong is not null then
    raise exception using errcode = 'WR001', message = 'invalid_turn', detail = v_wrong;
  end if;

  -- The hash over all inputs, how far the mailbox was read, and the policy in force at each event.
  for v_e in 1 .. coalesce(cardinality(v_of), 0) loop
    v_g := v_of[v_e];
    v_hashes[v_g] := sha256(v_hashes[v_g] || convert_to(v_docs[v_e], 'UTF8'));
    v_hash[v_e] := encode(v_hashes[v_g], 'hex');
    if v_read_at[v_e] is not null then
      v_mail_at[v_g] := v_read_at[v_e];
    end if;
    if v_published[v_e] is not null then
      v_policies[v_g] := v_published[v_e];
    end if;
    if v_acts then
      v_in_force[v_e] :=
        (coalesce(v_policies[v_g], v_data[v_g] -> 'policy') ->> 'version')::integer;
    end if;
  end loop;

  perform writ_data.open_month(v_now);
  perform writ_data.open_governor_month(v_now);

  -- Receipts: of their event, in the stream of its governor. Not by append_receipts, which would
  -- parse each of them once more. Names of tenants and products need no escapes in JSON.
  with said as (
    select x.e, v_of[x.e] as g, x.entry, x.r, x.r -> 'context' as c,
      row_number() over (partition by v_of[x.e] order by x.e, x.n) as nth,
      row_number() over (partition by v_of[x.e], x.e order by x.n) - 1 as ordinal
    from (
      select y.n, y.e, y.r as entry, y.r::jsonb as r
      from rows from (jsonb_to_recordset(p_turn -> 'receipts') as (e integer, r text))
        with ordinality y(e, r, n)
      offset 0
    ) x
    offset 0
  ), framed as (
    select s.e, s.g, s.entry, s.r, s.c, v_receipts[s.g] + s.nth as seq,
      'governor:' || v_skus[s.g] as stream,
      coalesce(s.c ->> 'terminal' = 'true', false) as terminal,
      writ_data.shaped_uuid(sha256(uuid_send(v_event_ids[s.e]) || int4send(s.ordinal::integer)), 4)
        as id
    from said s
    offset 0
  ), checked as materialized (
    select f.*,
      (f.r - 'context')::text = concat('{"reason": "', f.r ->> 'reason',
          '", "sku_id": "', v_skus[f.g], '", "status": "', f.r ->> 'status',
          '", "tenant_id": "', v_tenants[f.g], '", "timestamp": "', v_times[f.e],
          '", "receipt_id": "', f.id, '"}')
        and f.c ->> 'stream' = f.stream
        and f.c -> 'stream_seq' = to_jsonb(f.seq)
        and f.c ->> 'event_id' = v_event_ids[f.e]::text
        and f.c ->> 'inputs_hash' = v_hash[f.e]
        and writ_data.governor_writes(f.r ->> 'reason', f.r ->> 'status', f.terminal)
        and octet_length(f.entry) <= 65535 as fits
    from framed f
  ), written as (
    insert into writ_data.receipt (at, log_id, stream, stream_seq, receipt_id, entry, leaf_hash)
    select v_now, v_tenants[c.g], c.stream, c.seq, c.id, c.entry,
      sha256(decode('00', 'hex') || convert_to(c.entry, 'UTF8'))
    from checked c
    where c.fits
  ), settled as (
    select c.g, c.id, (c.c ->> 'arrival_seq')::bigint as first,
      (c.c ->> 'arrival_seq')::bigint as last
    from checked c
    where c.terminal and not c.c ? 'arrival_ranges'
    union all
    select c.g, c.id, (a.range ->> 0)::bigint, (a.range ->> 1)::bigint
    from checked c
    cross join lateral jsonb_array_elements(c.c -> 'arrival_ranges') a(range)
    where c.terminal and c.c ? 'arrival_ranges'
  )
  select r.of, r.wrong, s.of, s.first, s.last, s.by
  into v_receipt_of, v_wrong, v_settled_of, v_settled_from, v_settled_to, v_settled_by
  from (
    select array_agg(c.g) as of,
      min(format('A receipt of event %s is not of its event.', c.e))
        filter (where c.fits is not true) as wrong
    from checked c
  ) r
  cross join (
    select array_agg(s.g) as of, array_agg(s.first) as first, array_agg(s.last) as last,
      array_agg(s.id) as by
    from settled s
  ) s;

  if v_wrong is not null then
    raise exception using errcode = 'WR001', message = 'invalid_turn', detail = v_wrong;
  end if;

  foreach v_g in array coalesce(v_receipt_of, '{}') loop
    v_receipts[v_g] := v_receipts[v_g] + 1;
  end loop;

  -- Signals: what waited and what was read is what was settled and what waits now, each once. Most
  -- turns settle what they have read, in its order, and nothing waits: then nothing can be lost.
  v_holds := v_holds or exists (
    select from unnest(v_new_data, v_new_waiting) u(data, waiting)
    where writ_data.holds_signals(u.data, u.waiting));

  if v_holds or v_settled_of is distinct from v_read_of
    or v_settled_from is distinct from v_read or v_settled_to is distinct from v_read
  then
    with signal as (
      select u.g, 'read' as place, u.arrival as first, u.arrival as last
      from unnest(v_read_of, v_read) u(g, arrival)
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
      from unnest(v_data, v_waiting, v_new_data, v_new_waiting)
        with ordinality u(data, waiting, new_data, new_waiting, g)
      cross join lateral writ_data.held_signals(coalesce(u.new_data, u.data),
        coalesce(u.new_waiting, u.waiting)) h
      where writ_data.holds_signals(coalesce(u.new_data, u.data),
        coalesce(u.new_waiting, u.waiting))
    )
    select format('Signals of governor %s are lost, or settled twice.', v_ids[min(y.g)])
    into v_wrong
    from (
      select s.g,
        range_agg(int8range(s.first, s.last, '[]')) filter (where s.place in ('read', 'waited'))
          as came,
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
  end if;

  insert into writ_data.governor_settled (governor_id, arrival_seq, receipt_id, at)
  select v_ids[u.g], generate_series(u.first, u.last), u.id, v_now
  from unnest(v_settled_of, v_settled_from, v_settled_to, v_settled_by) u(g, first, last, id);

  -- A governor knows who it is, the policy that was published for it, and the actions it has sent.
  select writ_data.wrong_with_governor(v_ids[u.g], v_tenants[u.g], v_skus[u.g],
    coalesce(v_policies[u.g], u.was -> 'policy', 'null'), u.was, u.data, u.waiting,
    case when v_acts then array(
      select x.effect
      from jsonb_array_elements(p_turn -> 'effects') with ordinality x(effect, n)
      where x.effect ->> 'type' = 'attempt' and v_of[(x.effect ->> 'e')::integer] = u.g
      order by x.n)
    end, v_ms) as wrong
  into v_wrong
  from unnest(v_data, v_new_data, v_new_waiting) with ordinality u(was, data, waiting, g)
  where u.data is not null or u.waiting is not null or v_policies[u.g] is not null or v_acts
  order by wrong
  limit 1;

  if v_wrong is not null then
    raise exception using errcode = 'WR001', message = 'invalid_turn', detail = v_wrong;
  end if;

  -- Write. Wake-ups that have come go here, together with what they were for, and not when a
  -- governor is taken: a driver cannot lose one. Whatever is left to do gets a new one: a timer, an
  -- event in the queue, mail that was not read.
  with written as (
    update writ_data.governor g
    set events = v_last_event[u.g],
      receipts = v_receipts[u.g],
      mail_done = v_last_read[u.g],
      mail_at = v_mail_at[u.g],
      last_at = v_last_at[u.g],
      state = v_last_state[u.g],
      inputs_hash = v_hashes[u.g],
      due_at = case when u.waiting is null then g.due_at else writ_data.first_due(u.waiting) end,
      data = coalesce(u.data, g.data),
      waiting = coalesce(u.waiting, g.waiting),
      crashes = '{}',
      crash = null
    from unnest(v_ids, v_new_data, v_new_waiting) with ordinality u(id, data, waiting, g)
    where g.governor_id = u.id
    returning g.governor_id, g.due_at, v_due[u.g] as was_due, g.mail_done,
      v_holds and g.waiting -> 'queue' <> '[]' as queued
  ), gone as (
    delete from writ_data.governor_due d
    where d.due_at between v_after and v_now
      -- "is true" keeps this a lookup in a hash table: an array would be searched for each row.
      and (d.governor_id in (select u.id from unnest(v_ids) u(id))) is true
  )
  insert into writ_data.governor_due (due_at, governor_id)
  select w.due_at, w.governor_id
  from written w
  where w.due_at <= v_now or w.due_at <> w.was_due or w.due_at is not null and w.was_due is null
  union all
  select date_trunc('milliseconds', v_now), w.governor_id
  from written w
  join writ_data.governor_inbox b on b.governor_id = w.governor_id
  where (w.queued or b.mails > w.mail_done)
    and not v_wakes @> jsonb_build_array(jsonb_build_object('id', w.governor_id));

  if v_wakes <> '[]' then
    perform writ_data.wake_governors(v_wakes, v_tenant, v_after, v_now);
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
  if v_acts then
    v_wrong := writ_data.governor_effects(array(
      select jsonb_build_object(
        'g', v_ids[v_of[x.e]], 't', v_tenants[v_of[x.e]], 's', v_skus[v_of[x.e]],
        'event_id', v_event_ids[x.e], 'version', v_in_force[x.e],
        'at', coalesce(d.doc -> 'clock', d.doc -> 'at'),
        'ids_at', coalesce(d.doc -> 'ids_at', d.doc -> 'clock', d.doc -> 'at'),
        'was', v_data[v_of[x.e]] - '{over,seen,cooling,storm}'::text[],
        'effect', x.effect)
      from (
        select (y.effect ->> 'e')::integer as e, y.effect - 'e' as effect, y.n
        from jsonb_array_elements(p_turn -> 'effects') with ordinality y(effect, n)
      ) x
      cross join lateral (select v_docs[x.e]::jsonb as doc offset 0) d
      order by x.n), p_actor, v_now);
    if v_wrong is not null then
      raise exception using errcode = 'WR001', message = 'invalid_turn', detail = v_wrong;
    end if;
  end if;

  -- An event that was set aside has its receipt and its alert, whatever the driver says.
  foreach v_e in array coalesce(v_aside, '{}') loop
    v_g := v_of[v_e];
    v_details := v_docs[v_e]::jsonb -> 'content';
    v_crash := v_details ->> 'kind' = 'crash';
    if not exists (
      select from jsonb_to_recordset(p_turn -> 'receipts') x(e integer, r text)
      where x.e = v_e and (x.r::jsonb ->> 'reason', v_crash)
        in (('event_failed', true), ('nondeterminism_detected', false))
    ) then
      raise exception using errcode = 'WR001', message = 'invalid_turn',
        detail = format('Governor %s set an event aside without a receipt.', v_ids[v_g]);
    end if;
    perform writ_data.raise_alert(
      case when v_crash then 'GOVERNOR_CRASH' else 'GOVERNOR_NONDETERMINISM' end,
      'P1', v_tenants[v_g], 'governor/' || v_ids[v_g],
      jsonb_build_object('event', left(v_details ->> 'event', 100),
        'arrival_seq', v_details -> 'arrival_seq'), p_actor, v_now);
  end loop;
  return '{}'::jsonb;
end $$;
