-- Locks governors that are due, or that are named, for a driver that decides about them.
-- Callers: writ_engine
-- Answers: a first row on how things are: when it is, by the clock of the gates (last) and by that
--          of the machine (done), the latest time of what was taken, and when the next governor is
--          due; then a row per governor, with what is new in its mailbox as JSON
--          [[mail_seq, at, arrival_seq, content]] and the same of what `waiting` names.
--          Times are milliseconds. p_after: what was due before has been looked at; a hint.
-- Locks:   the governors, in the order of their ids, until the transaction ends. Those that another
--          driver holds are passed over.
--
-- The caller decides, and calls fn_governors_apply in the same transaction. Until then the
-- governors stay due, so a driver that takes governors and writes nothing loses nothing.
create or replace function writ.fn_governors_take(
  p_limit integer,
  p_mails integer,
  p_after timestamptz default '-infinity',
  p_ids uuid[] default null
) returns table (
  id uuid,
  t text,
  s text,
  events bigint,
  receipts bigint,
  done bigint,
  last bigint,
  state text,
  hash text,
  due bigint,
  data text,
  waiting text,
  crashes integer,
  crash text,
  mails text,
  held text,
  taken_upto timestamptz
)
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
  v_limit integer := least(greatest(p_limit, 1), 1000);
  v_mails integer := least(greatest(p_mails, 1), 1000);
  v_of uuid[];    -- governors that are due
  v_ids uuid[];   -- those of them that we hold
begin
  perform set_config('lock_timeout',
    (writ_data.setting('governor.transition_ms')) #>> '{}' || 'ms', true);
  if p_ids is not null then
    v_of := p_ids[1:1000];
  elsif v_tenant is null then
    select array_agg(d.governor_id), max(d.due_at)
    into v_of, taken_upto
    from (
      select x.governor_id, x.due_at
      from writ_data.governor_due x
      where x.due_at <= v_now and x.due_at >= p_after
      order by x.due_at
      limit v_limit
    ) d;
  else
    select array_agg(d.governor_id), max(d.due_at)
    into v_of, taken_upto
    from (
      select x.governor_id, x.due_at
      from writ_data.governor_due x
      join writ_data.governor g on g.governor_id = x.governor_id and g.tenant_id = v_tenant
      where x.due_at <= v_now and x.due_at >= p_after
      order by x.due_at
      limit v_limit
    ) d;
  end if;

  if v_of is null then
    select (extract(epoch from min(x.due_at)) * 1000)::bigint into due
    from writ_data.governor_due x
    where x.due_at > v_now and (v_tenant is null or exists (
      select from writ_data.governor g
      where g.governor_id = x.governor_id and g.tenant_id = v_tenant));
  end if;
  last := (extract(epoch from v_now) * 1000)::bigint;
  done := (extract(epoch from clock_timestamp()) * 1000)::bigint;
  return next;
  if v_of is null then
    return;
  end if;

  select array_agg(l.governor_id) into v_ids
  from (
    select g.governor_id
    from writ_data.governor g
    where g.governor_id = any (v_of) and coalesce(v_tenant, g.tenant_id) = g.tenant_id
    order by g.governor_id
    for no key update skip locked
  ) l;

  return query
    select g.governor_id, g.tenant_id, g.sku_id, g.events, g.receipts, g.mail_done,
      (date_part('epoch', greatest(g.last_at, 'epoch')) * 1000)::bigint, g.state,
      encode(g.inputs_hash, 'hex'), (date_part('epoch', g.due_at) * 1000)::bigint, g.data::text,
      g.waiting::text,
      case when g.crashes = '{}' then 0 else writ_data.crash_count(g.crashes, v_now) end,
      g.crash, m.mails, h.mails, null::timestamptz
    from unnest(v_ids) u(id)
    join writ_data.governor g on g.governor_id = u.id
    left join lateral (
      select concat('[', string_agg(concat('[', x.mail_seq, ',',
        (date_part('epoch', x.at) * 1000)::bigint, ',', coalesce(x.arrival_seq::text, 'null'), ',',
        x.content::text, ']'), ',' order by x.mail_seq), ']') as mails
      from (
        select y.mail_seq, y.at, y.arrival_seq, y.content
        from writ_data.governor_mail y
        where y.governor_id = g.governor_id and y.mail_seq > g.mail_done and y.at >= g.mail_at
        order by y.mail_seq
        limit v_mails
      ) x
    ) m on true
    left join lateral (
      select json_agg(json_build_array(x.mail_seq, (date_part('epoch', x.at) * 1000)::bigint,
        x.arrival_seq, x.content))::text as mails
      from (
        select (q #>> '{held,0}')::bigint + o as seq
        from jsonb_array_elements(g.waiting -> 'queue') q
        cross join lateral generate_series(0, (q #>> '{held,2}')::bigint - 1) o
        where q ? 'held'
        limit v_mails
      ) q
      join writ_data.governor_mail x on x.governor_id = g.governor_id and x.mail_seq = q.seq
      where g.waiting -> 'queue' <> '[]'
    ) h on true;
end $$;
