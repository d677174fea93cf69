-- Reads the record within the bounds that record_bounds has answered: at most p_facts facts of the
-- given types, out of at most ten times as many batches, with ids from p_since on.
-- Answers: the facts as arrays, the position after them (null: there is nothing new), and whether a
--          bound ended the reading. How many facts a batch adds is known from its ranges, so the
--          list of subjects is fetched only where something is taken from it.
-- The plan is fixed, and made once per session: whatever the statistics say, a batch is looked up
-- by its key.
create or replace function writ_data.log_after(
  p_at writ_data.record_position,
  p_horizon xid8,
  p_until uuid,
  p_since uuid,
  p_types text[],
  p_facts integer,
  out event_ids uuid[],
  out event_types text[],
  out subjects text[],
  out upto writ_data.record_position,
  out more boolean
)
language plpgsql stable
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  -- The batch that the position is in, and how many of its facts are behind it.
  v_batch uuid := writ_data.batch_of((p_at).fact);
  v_seen integer := ('x' || right((p_at).fact::text, 6))::bit(24)::integer;
  v_xid xid8;       -- of the last fact
  v_fact uuid;
begin
  with log as materialized (
    select b.xid, b.batch_id, b.types, b.first, b.last
    from writ_data.event_batch b
    where (b.xid, b.batch_id) >= ((p_at).xid, v_batch)
      and b.xid < p_horizon
      and b.batch_id > (p_at).era and b.batch_id <= p_until
      and b.batch_id >= writ_data.batch_of(p_since)
    order by b.xid, b.batch_id
    limit 10 * p_facts
  ), range as (
    select
      l.xid, l.batch_id, r.type, r.first, r.last,
      sum(n.facts) over (partition by l.batch_id order by r.i) - n.facts as before,
      n.facts
    from log l
    cross join lateral unnest(l.types, l.first, l.last)
      with ordinality r(type, first, last, i)
    cross join lateral (select greatest(0, r.last - r.first + 1) as facts) n
  ), wanted as (
    -- Of the batch that the position is in, only what lies behind it.
    select
      r.xid, r.batch_id, r.type, r.before + s.seen as before, r.first + s.seen as first,
      r.facts - s.seen as facts
    from range r
    cross join lateral (
      select case
          when r.batch_id = v_batch and r.xid = (p_at).xid
            then least(r.facts, greatest(0, v_seen - r.before))
          else 0
        end as seen
    ) s
    where r.type = any (p_types) and r.facts > s.seen
  ), counted as (
    select w.*, sum(w.facts) over (order by w.xid, w.batch_id, w.before) - w.facts as earlier
    from wanted w
  ), fact as (
    select
      c.xid, writ_data.fact_id(c.batch_id, (c.before + u.n)::bigint) as id, c.type,
      case
        when c.type like 'dot.job.%' then u.subject::text
        else b.details #>> array['executors', (c.first + u.n - 2)::text]
      end as subject
    from counted c
    join writ_data.event_batch b on b.batch_id = c.batch_id
    cross join lateral unnest(
      b.subjects[c.first::integer:(c.first + least(c.facts, p_facts - c.earlier) - 1)::integer]
    ) with ordinality u(subject, n)
    where c.earlier < p_facts
  ), ending as (
    -- The last fact that was taken if there are more, otherwise the end of the last batch that was
    -- read.
    (
      select f.xid, f.id as event_id, 1 as rank
      from fact f
      where (select max(c.earlier + c.facts) from counted c) > p_facts
      order by f.xid desc, f.id desc
      limit 1
    )
    union all
    (
      select l.xid, writ_data.fact_id(l.batch_id, 16777215), 2
      from log l
      order by l.xid desc, l.batch_id desc
      limit 1
    )
    order by rank
    limit 1
  )
  select
    f.ids, f.types, f.subjects,
    e.xid, e.event_id, e.rank = 1 or (select count(*) from log) = 10 * p_facts
  into log_after.event_ids, log_after.event_types, log_after.subjects, v_xid, v_fact,
    log_after.more
  from (
    select
      array_agg(id order by xid, id) as ids,
      array_agg(type order by xid, id) as types,
      array_agg(subject order by xid, id) as subjects
    from fact
  ) f
  left join ending e on true;
  if v_fact is not null then
    upto := row((p_at).era, v_xid, v_fact);
  end if;
end $$;
