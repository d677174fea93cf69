-- Puts receipts that have been committed into their logs, at most p_limit of them, in the order of their numbers, which is that of each stream: a stream's row
-- is locked when the number is taken. Numbers that are not seen when they are passed are kept as missing, and looked for until nobody can have them any more:
-- who takes a number has a transaction's number already. The caller holds the clockwork. p_fresh: its transaction's own number is younger than the last turn.
create or replace function writ_data.sequence_receipts(p_limit integer, p_at timestamptz, p_fresh boolean) returns integer language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan as $$
declare
  c writ_data.ledger_clockwork; v_missing int8multirange; v_before int8multirange; v_xid xid8; v_oldest xid8;
  v_nos bigint[]; v_logs text[]; v_hashes bytea[]; g record; v_grown record;
begin
  select * into c from writ_data.ledger_clockwork;
  -- One statement, so one snapshot.
  select array_agg(f.receipt_no), array_agg(f.log_id), array_agg(f.leaf_hash), pg_snapshot_xmin(pg_current_snapshot()) into v_nos, v_logs, v_hashes, v_oldest
  from (
    (select r.receipt_no, r.log_id, r.leaf_hash from unnest(c.missing + c.missing_before) m join writ_data.receipt r on r.receipt_no >= lower(m) and r.receipt_no < upper(m) order by r.receipt_no)
    union all
    (select r.receipt_no, r.log_id, r.leaf_hash from writ_data.receipt r where r.receipt_no > c.last_no order by r.receipt_no limit p_limit)
  ) f;

  -- What was missing then and has not come. A transaction of a later number than our own is one of another server, whose dump was restored here: all of it is here.
  select c.missing - s.seen, c.missing_before - s.seen into v_missing, v_before
  from (select coalesce(range_agg(int8range(no, no, '[]')), '{}') as seen from unnest(v_nos) no where no <= c.last_no) s;
  v_xid := c.missing_xid;
  if p_fresh and (isempty(v_before) or v_oldest >= v_xid or v_xid > pg_current_xact_id()) then
    v_before := v_missing;
    v_missing := '{}';
    v_xid := pg_current_xact_id();
  end if;
  if v_nos is null then
    if (v_missing, v_before) is distinct from (c.missing, c.missing_before) then
      update writ_data.ledger_clockwork set missing = v_missing, missing_before = v_before, missing_xid = v_xid;
    end if;
    return 0;
  end if;

  insert into writ_data.ledger_log (log_id) select distinct log from unnest(v_logs) log on conflict do nothing;
  insert into writ_data.ledger_leaf (log_id, leaf_index, receipt_no, leaf_hash)
  select x.log, l.size + u.n - 1, u.no, u.hash
  from (select u.log, array_agg(u.no order by u.no) as nos, array_agg(u.hash order by u.no) as hashes from unnest(v_nos, v_logs, v_hashes) u(no, log, hash) group by u.log) x
  join writ_data.ledger_log l on l.log_id = x.log cross join lateral unnest(x.nos, x.hashes) with ordinality u(no, hash, n);
  for g in
    select l.log_id, l.size, l.frontier, x.hashes, x.n
    from (select u.log, string_agg(u.hash, ''::bytea order by u.no) as hashes, count(*) as n from unnest(v_nos, v_logs, v_hashes) u(no, log, hash) group by u.log) x
    join writ_data.ledger_log l on l.log_id = x.log
  loop
    v_grown := writ_data.tree_grow(g.size, g.frontier, g.hashes);
    insert into writ_data.ledger_node (log_id, level, node_index, hash)
    select g.log_id, 8 * k, (g.size >> (8 * k)) + i, substring(v_grown.nodes[k] from 32 * i + 1 for 32)
    from generate_series(1, cardinality(v_grown.nodes)) k cross join lateral generate_series(0, octet_length(v_grown.nodes[k]) / 32 - 1) i;
    update writ_data.ledger_log set size = g.size + g.n, frontier = v_grown.frontier, root = writ_data.tree_root(v_grown.frontier), grown_at = p_at where log_id = g.log_id;
  end loop;
  select v_missing + coalesce(range_agg(int8range(n.before, n.no, '()')), '{}') into v_missing
  from (select no, lag(no, 1, c.last_no) over (order by no) as before from unnest(v_nos) no where no > c.last_no) n where n.no > n.before + 1;
  update writ_data.ledger_clockwork set last_no = greatest(c.last_no, v_nos[cardinality(v_nos)]), missing = v_missing, missing_before = v_before, missing_xid = v_xid;
  return cardinality(v_nos);
end $$;
