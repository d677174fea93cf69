-- Puts signals into the mailboxes of their governors. Each gets its governor's next number.
-- Callers: writ_producer, writ_server
-- Answers: [{g: governor, n: arrival_seq, storm, duplicate} or a refusal], in order. A signal that
--          was sent within a day, or since it was observed, gets the answer of the first one.
-- Refuses: one signal with governor_not_found or invalid_signal; the call with invalid_argument, if
--          p_items is not a list of up to 1000.
-- Locks:   the mailboxes, in the order of their governors.
--
-- p_items is [{t: tenant, s: product, id, c: content}]. The gate counts the signals of each tenant
-- within the window. If there are too many, it puts the number into the signal. Overlapping calls
-- for different governors of a tenant do not see each other's signals, so they may exceed the limit
-- once; the next call counts them. p_wake: the sender is not a driver, so wake the drivers.
create or replace function writ.fn_signals_take(
  p_items json,
  p_actor text,
  p_wake boolean default true
) returns json
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_now timestamptz := date_trunc('milliseconds', writ.now());
  v_tenant text := writ_data.caller_tenant();
  v_limit bigint := (writ_data.setting('governor.storm_limit'))::bigint;
  v_window interval := (writ_data.setting('governor.storm_window_ms'))::integer
    * interval '1 millisecond';
  v_observed float8;   -- the first of them, in seconds
  v_since timestamptz; -- from when on a signal may have been sent before
  v_ns integer[];
  v_wrong boolean[];
  v_governors uuid[];
  v_tenants text[];
  v_ids text[];
  v_contents jsonb[];
  v_items json := p_items;
  v_answer json;
begin
  perform writ_data.open_governor_month(v_now);
  if (json_typeof(p_items) = 'array' and json_array_length(p_items) <= 1000) is not true then
    return writ_data.refusal('invalid_argument', 'a list of up to 1000 signals');
  end if;

  for v_try in 1 .. 2 loop
    begin
      select array_agg(x.n::integer), array_agg(x.wrong), array_agg(g.governor_id),
        array_agg(x.t), array_agg(x.id), array_agg(x.c),
        min((x.c ->> 'observed_at')::float8) filter (where not x.wrong) / 1000
      into v_ns, v_wrong, v_governors, v_tenants, v_ids, v_contents, v_observed
      from (
        select y.n, y.t, y.s, y.id, y.c,
          writ_data.signal_is_well_formed(y.id, y.c) is not true as wrong
        from rows from (json_to_recordset(v_items) as (t text, s text, id text, c jsonb))
          with ordinality y(t, s, id, c, n)
        offset 0 -- judges each signal once
      ) x
      left join writ_data.governor g on not x.wrong and g.tenant_id = x.t and g.sku_id = x.s
        and coalesce(v_tenant, g.tenant_id) = g.tenant_id;
      exit;
    exception when data_exception or program_limit_exceeded then
      -- One signal cannot be stored. It is refused below, and the others are stored.
      if v_try = 2 then
        raise;
      end if;
      v_items := (
        select json_agg(writ_data.storable_signal(i.item) order by i.n)
        from json_array_elements(p_items) with ordinality i(item, n)
      );
    end;
  end loop;

  -- An id is known for a day, and as long as the month's index holds it. What began earlier, such
  -- as an alert that fires for days, is known from then on. The clock of whoever observed it may be
  -- ahead by the five minutes that a signature may be old.
  v_since := least(v_now - interval '25 hours', to_timestamp(v_observed) - interval '5 minutes',
    date_trunc('month', v_now at time zone 'UTC') at time zone 'UTC' - interval '1 millisecond');

  perform from writ_data.governor_inbox b
  where b.governor_id = any (v_governors)
  order by b.governor_id
  for no key update;

  -- Window functions over one list, because joining the list with itself would cost its square.
  with sent as (
    select u.n, u.wrong, u.g, u.t, u.id, u.c,
      row_number() over (partition by u.g, u.id order by u.n) as k,
      (select m.arrival_seq
       from writ_data.governor_mail m
       where m.governor_id = u.g and m.signal_id = u.id and m.at > v_since
       limit 1) as seen
    from unnest(v_ns, v_wrong, v_governors, v_tenants, v_ids, v_contents) u(n, wrong, g, t, id, c)
  ), item as materialized (
    select s.n, s.wrong, s.g, s.t, s.id, s.c, s.seen, f.fresh,
      count(*) filter (where f.fresh) over (partition by s.g order by s.n) as k,
      count(*) filter (where f.fresh) over (partition by s.t order by s.n) as kt,
      count(*) filter (where f.fresh) over (partition by s.g) as n_of
    from sent s
    cross join lateral (select s.g is not null and s.seen is null and s.k = 1 as fresh) f
  ), numbered as materialized (
    select i.n, i.g, i.t, i.id, i.c, i.k, i.n_of, b.mails + i.k as mail_seq,
      b.arrivals + i.k as arrival_seq, greatest(b.last_at, v_now) as at, r.window_mail,
      case when r.recent + i.kt > v_limit then r.recent + i.kt end as storm
    from item i
    join writ_data.governor_inbox b on b.governor_id = i.g
    -- For each governor of the tenant, the first signal within the window.
    cross join lateral (
      select sum(p.arrivals - coalesce(w.arrival_seq, p.arrivals + 1) + 1) as recent,
        max(coalesce(w.mail_seq, p.mails + 1)) filter (where o.governor_id = i.g) as window_mail
      from writ_data.governor o
      join writ_data.governor_inbox p on p.governor_id = o.governor_id
      left join lateral (
        select m.arrival_seq, m.mail_seq
        from writ_data.governor_mail m
        where m.governor_id = o.governor_id and m.mail_seq >= p.window_mail
          and m.arrival_seq is not null
          -- Not one of a time when the clock was ahead: all that come after it would count.
          and m.at > v_now - v_window and m.at <= v_now + v_window
        order by m.mail_seq
        limit 1
      ) w on true
      where o.tenant_id = i.t
    ) r
    where i.fresh
  ), counted as (
    update writ_data.governor_inbox b
    set mails = b.mails + x.n_of, arrivals = b.arrivals + x.n_of, window_mail = x.window_mail,
      last_at = x.at
    from numbered x
    where x.k = 1 and b.governor_id = x.g
  ), due as (
    -- The current time, even if the clock was set back and the mailbox is ahead of it.
    insert into writ_data.governor_due (due_at, governor_id)
    select v_now, x.g
    from numbered x
    where x.k = 1
  ), put as (
    insert into writ_data.governor_mail (governor_id, mail_seq, at, arrival_seq, signal_id, content)
    select x.g, x.mail_seq, x.at, x.arrival_seq, x.id,
      case when x.storm is null then x.c else x.c || jsonb_build_object('storm', x.storm) end
    from numbered x
  )
  select json_agg(y.answer order by y.n) into v_answer
  from (
    select x.n, case when x.storm is null then json_build_object('g', x.g, 'n', x.arrival_seq)
      else json_build_object('g', x.g, 'n', x.arrival_seq, 'storm', x.storm) end as answer
    from numbered x
    union all
    select i.n, case
      when i.wrong then writ_data.refusal('invalid_signal')::json
      when i.g is null then writ_data.refusal('governor_not_found', left(i.t, 200))::json
      else json_build_object('g', i.g, 'n', coalesce(i.seen, (
        select x.arrival_seq from numbered x where x.g = i.g and x.id = i.id)),
        'duplicate', true) end
    from item i
    where not i.fresh
  ) y;
  if p_wake then
    perform pg_notify('governor_due', '');
  end if;
  return coalesce(v_answer, '[]');
end $$;
