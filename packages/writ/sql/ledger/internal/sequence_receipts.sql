-- Puts receipts that have been committed into their logs, at most p_limit new ones, in the order of
-- their numbers, which is that of each stream: a stream's row is locked when the number is taken.
-- Numbers that are not seen when they are passed are kept as missing, and looked for until no
-- transaction can have them any more: a transaction has its own number before it takes one. The
-- caller holds the clockwork. p_fresh: the transaction's own number is younger than the last turn.
-- Answers: how many receipts it has handled. Those of a log that cannot grow are set aside, see
--          writ_data.place_receipts; they are tried again once a minute.
create or replace function writ_data.sequence_receipts(
  p_limit integer,
  p_at timestamptz,
  p_fresh boolean
) returns integer
language plpgsql
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_at writ_data.ledger_clockwork;
  v_nos bigint[];
  v_logs text[];
  v_hashes bytea[];
  v_oldest xid8;
  v_missing int8multirange;
  v_before int8multirange;
  v_xid xid8;
begin
  select * into v_at from writ_data.ledger_clockwork;
  if exists (select from writ_data.ledger_aside)
    and (p_at < v_at.aside_at or p_at >= v_at.aside_at + interval '1 minute') then
    perform writ_data.retry_aside(p_limit, p_at);
    update writ_data.ledger_clockwork set aside_at = p_at;
  end if;

  -- One statement, so one snapshot.
  select array_agg(f.receipt_no), array_agg(f.log_id), array_agg(f.leaf_hash),
    pg_snapshot_xmin(pg_current_snapshot())
  into v_nos, v_logs, v_hashes, v_oldest
  from (
    (select r.receipt_no, r.log_id, r.leaf_hash
      from unnest(v_at.missing + v_at.missing_before) m
      join writ_data.receipt r on r.receipt_no >= lower(m) and r.receipt_no < upper(m)
      order by r.receipt_no)
    union all
    (select r.receipt_no, r.log_id, r.leaf_hash
      from writ_data.receipt r
      where r.receipt_no > v_at.last_no
      order by r.receipt_no
      limit p_limit)
  ) f;

  -- What was missing then and has not come. A transaction of a later number than our own is one of
  -- another server, whose dump was restored here: all of it is here.
  select v_at.missing - s.seen, v_at.missing_before - s.seen
  into v_missing, v_before
  from (
    select coalesce(range_agg(int8range(no, no, '[]')), '{}') as seen
    from unnest(v_nos) no
    where no <= v_at.last_no) s;
  v_xid := v_at.missing_xid;
  if p_fresh and (isempty(v_before) or v_oldest >= v_xid or v_xid > pg_current_xact_id()) then
    v_before := v_missing;
    v_missing := '{}';
    v_xid := pg_current_xact_id();
  end if;
  if v_nos is null then
    if (v_missing, v_before) is distinct from (v_at.missing, v_at.missing_before) then
      update writ_data.ledger_clockwork
      set missing = v_missing, missing_before = v_before, missing_xid = v_xid;
    end if;
    return 0;
  end if;

  perform writ_data.place_receipts(v_nos, v_logs, v_hashes, p_at);
  select v_missing + coalesce(range_agg(int8range(n.before, n.no, '()')), '{}') into v_missing
  from (
    select no, lag(no, 1, v_at.last_no) over (order by no) as before
    from unnest(v_nos) no
    where no > v_at.last_no) n
  where n.no > n.before + 1;
  update writ_data.ledger_clockwork
  set last_no = greatest(v_at.last_no, v_nos[cardinality(v_nos)]),
    missing = v_missing, missing_before = v_before, missing_xid = v_xid;
  return cardinality(v_nos);
end $$;
