-- Reads the record within the bounds that record_bounds has answered: at most p_limit calls of
-- gates and about p_events events, of the types and the tenant wanted (null: all).
-- Answers: the events as JSON text (null: none), the position after them (null: nothing was read),
--          whether a bound ended the reading, the time of the oldest call, and the subjects. An
--          event is an array: id, type, subject, tenant, milliseconds since 1970, actor, number in
--          its run, step, logical attempt, engine's attempt, data.
-- Two transactions can append to one run in another order than they got their numbers. So events of
-- a run that come before one of these, wanted or not, and stand behind this window, are told with
-- it, and once more in their turn. Whatever the record has of a run up to the position has been
-- told after everything that came before it.
-- The plan is fixed, and made once per session: whatever the statistics say, a batch is looked up
-- by its key.
create or replace function writ_data.outbox_window(
  p_at writ_data.record_position,
  p_horizon xid8,
  p_until uuid,
  p_types text[],
  p_tenant text,
  p_limit integer,
  p_events integer,
  out events text,
  out upto writ_data.record_position,
  out more boolean,
  out oldest timestamptz,
  out subjects uuid[]
)
language plpgsql stable
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_xid xid8;       -- of the last batch
  v_batch uuid;
  v_like text[] := writ_data.outbox_patterns(p_types);
  -- Events of runs, by run and number: the predecessors that are looked for, and those to tell.
  v_runs uuid[];
  v_seqs integer[];
  v_early_runs uuid[] := '{}'::uuid[];
  v_early_seqs integer[] := '{}'::integer[];
begin
  with ahead as materialized (
    select
      b.xid, b.batch_id, b.types, b.first, b.last, b.at, b.actor, b.details, b.run_ids, b.run_seqs
    from writ_data.event_batch b
    where (b.xid, b.batch_id) > ((p_at).xid, (p_at).fact) and b.xid < p_horizon
      and b.batch_id > (p_at).era and b.batch_id <= p_until
    order by b.xid, b.batch_id
    limit p_limit
  ), sized as materialized (
    select
      a.*, sum(n.wanted) over (order by a.xid, a.batch_id) - n.wanted as earlier
    from ahead a
    cross join lateral (
      select coalesce(
        sum(greatest(0, r.last - r.first + 1)) filter (where r.type like any (v_like)), 0
      ) as wanted
      from unnest(a.types, a.first, a.last) r(type, first, last)
    ) n
  ), log as materialized (
    select * from sized s where s.earlier < p_events
  ), range as materialized (
    select
      l.xid, l.batch_id, l.at, l.actor, l.details, l.run_seqs, r.type, r.first, r.last,
      sum(n.facts) over (partition by l.batch_id order by r.i) - n.facts as before
    from log l
    cross join lateral unnest(l.types, l.first, l.last)
      with ordinality r(type, first, last, i)
    cross join lateral (select greatest(0, r.last - r.first + 1) as facts) n
  ), fact as materialized (
    select
      r.xid, r.batch_id, r.at, r.actor, r.details, r.type,
      (r.before + u.n)::integer as ordinal,
      u.subject,
      case when r.type like 'dot.run.%' then r.run_seqs[r.first + u.n::integer - 1] end as seq
    from range r
    join writ_data.event_batch b on b.batch_id = r.batch_id
    cross join lateral unnest(b.subjects[r.first:r.last]) with ordinality u(subject, n)
    where r.type like any (v_like) and r.last >= r.first
  ), told as (
    select
      f.xid, f.batch_id, f.ordinal, f.subject, f.seq,
      coalesce(
        x.tenant_id, j.tenant_id, a.tenant_id, writ_data.on_fact_tenant(f.type, f.subject)
      ) as tenant,
      writ_data.outbox_event(
        writ_data.fact_id(f.batch_id, f.ordinal), f.type, f.subject,
        coalesce(
          x.tenant_id, j.tenant_id, a.tenant_id, writ_data.on_fact_tenant(f.type, f.subject)
        ),
        f.at, f.actor, f.seq, e.step_id, e.logical_attempt, e.engine_attempt, e.data, f.details,
        coalesce(x.traceparent, j.traceparent)
      ) as event
    from fact f
    left join lateral (
      select y.tenant_id, y.traceparent from writ_data.run y
      where f.seq is not null and y.run_id = f.subject
      offset 0
    ) x on true
    left join lateral (
      select y.step_id, y.logical_attempt, y.engine_attempt, y.data from writ_data.run_event y
      where f.seq is not null and y.run_id = f.subject and y.run_seq = f.seq
      offset 0
    ) e on true
    left join lateral (
      select y.tenant_id, y.traceparent from writ_data.job y
      where f.type like 'dot.job.%' and y.job_id = f.subject
      offset 0
    ) j on true
    left join lateral (
      select y.tenant_id from writ_data.alert y
      where f.type like 'system.alert%' and y.alert_id = f.subject
      offset 0
    ) a on true
    where f.seq is null or e.step_id is not null
  ), wanted as materialized (
    select * from told t where p_tenant is null or t.tenant = p_tenant
  ), early as (
    -- Events of runs whose predecessor is not in this window.
    select array_agg(s.run) as runs, array_agg(s.seq) as seqs
    from (
      select
        u.run, u.seq, lag(u.seq) over (partition by u.run order by u.seq) as before
      from log l
      cross join lateral unnest(l.run_ids, l.run_seqs) u(run, seq)
      where exists (
        select from unnest(v_like) p where p like 'dot.run.%' or 'dot.run.' like p
      )
    ) s
    where s.before is distinct from s.seq - 1
  )
  select
    (select count(*) = p_limit and p_limit > 0 from ahead)
      or (select count(*) from ahead) > (select count(*) from log),
    (select l.xid from log l order by l.xid desc, l.batch_id desc limit 1),
    (select l.batch_id from log l order by l.xid desc, l.batch_id desc limit 1),
    (select min(l.at) from log l),
    (select array_agg(distinct w.subject) from wanted w),
    (select string_agg(w.event, ',' order by w.xid, w.batch_id, w.ordinal) from wanted w),
    e.runs, e.seqs
  into
    outbox_window.more, v_xid, v_batch, oldest, outbox_window.subjects, events, v_runs, v_seqs
  from early e;
  if v_batch is not null then
    upto := row((p_at).era, v_xid, writ_data.fact_id(v_batch, 16777215));
  end if;

  -- Go back from each of these events, for as long as its predecessor stands behind this window.

  while v_runs is not null loop
    select array_agg(e.run_id), array_agg(e.run_seq)
    into v_runs, v_seqs
    from unnest(v_runs, v_seqs) u(run, seq)
    cross join lateral (
      select y.run_id, y.run_seq, y.batch_id from writ_data.run_event y
      where y.run_id = u.run and y.run_seq = u.seq - 1
      offset 0
    ) e
    cross join lateral (
      select c.xid from writ_data.event_batch c where c.batch_id = e.batch_id offset 0
    ) b
    -- Earlier eras have been told.
    where (b.xid, e.batch_id) > (v_xid, v_batch) and e.batch_id > (p_at).era;
    v_early_runs := v_early_runs || v_runs;
    v_early_seqs := v_early_seqs || v_seqs;
  end loop;
  if v_early_runs <> '{}' then
    events := nullif(concat_ws(',', (
      select string_agg(
        writ_data.outbox_event(
          writ_data.fact_id(e.batch_id, o.ordinal), 'dot.run.' || e.event_type, e.run_id,
          r.tenant_id, e.at, b.actor, e.run_seq, e.step_id, e.logical_attempt, e.engine_attempt,
          e.data, null, r.traceparent
        ), ',' order by e.run_id, e.run_seq)
      from unnest(v_early_runs, v_early_seqs) u(run, seq)
      join writ_data.run r on r.run_id = u.run
      join writ_data.run_event e on e.run_id = u.run and e.run_seq = u.seq
      join writ_data.event_batch b on b.batch_id = e.batch_id
      cross join lateral (
        select f.ordinal
        from (
          select row_number() over (order by t.i, s.n) as ordinal, b.types[t.i] as type, s.n
          from generate_subscripts(b.types, 1) t(i)
          cross join lateral generate_series(b.first[t.i], b.last[t.i]) s(n)
        ) f
        where f.type like 'dot.run.%' and b.subjects[f.n] = e.run_id
          and b.run_seqs[f.n] = e.run_seq
      ) o
      where 'dot.run.' || e.event_type like any (v_like)
        and (p_tenant is null or r.tenant_id = p_tenant)
    ), events), '');
    subjects := subjects || v_early_runs;
  end if;
end $$;
