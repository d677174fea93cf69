-- internal
-- Puts receipts that have been committed into their logs, at most p_limit of them, in the order of their numbers, which is that of each stream: a stream's row
-- is locked when the number is taken. A receipt whose transaction was open when its number was passed is found by that transaction: the snapshot lists those
-- that are older than the last which had ended, and names the number from which on everything was open. The caller holds the clockwork.
create or replace function writ_data.sequence_receipts(p_limit integer, p_at timestamptz) returns integer language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan as $$
declare
  v_last bigint; v_open xid8[]; v_next xid8; v_still_open xid8[]; v_still_next xid8; v_nos bigint[]; v_logs text[]; v_hashes bytea[]; g record; v_grown record;
begin
  select last_no, open_xids, next_xid into v_last, v_open, v_next from writ_data.ledger_clockwork;
  -- One statement, so one snapshot: what is open now is exactly what it does not see. Nothing that it sees is of a transaction behind its end, but for rows of
  -- another server that came by dump and restore: they are looked through once.
  with snapshot as materialized (
    select pg_snapshot_xmax(pg_current_snapshot()) as behind, coalesce((select array_agg(x) from pg_snapshot_xip(pg_current_snapshot()) x), '{}') as open
  ), found as (
    (select r.receipt_no, r.log_id, r.leaf_hash from writ_data.receipt r where r.receipt_no > v_last order by r.receipt_no limit p_limit)
    union all
    (select r.receipt_no, r.log_id, r.leaf_hash from writ_data.receipt r where r.xid = any (v_open) and r.receipt_no <= v_last
      and not exists (select from writ_data.ledger_leaf l where l.receipt_no = r.receipt_no))
    union all
    (select r.receipt_no, r.log_id, r.leaf_hash from writ_data.receipt r where r.xid >= v_next and r.xid < (select case when v_next > s.behind then '18446744073709551615' else s.behind end from snapshot s) and r.receipt_no <= v_last
      and not exists (select from writ_data.ledger_leaf l where l.receipt_no = r.receipt_no))
  )
  select array_agg(f.receipt_no), array_agg(f.log_id), array_agg(f.leaf_hash), (select s.open from snapshot s), (select s.behind from snapshot s)
  into v_nos, v_logs, v_hashes, v_still_open, v_still_next
  from (select * from found order by receipt_no) f;
  if v_nos is null then
    if v_open <> v_still_open or v_next > v_still_next then
      update writ_data.ledger_clockwork set open_xids = v_still_open, next_xid = v_still_next;
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
  update writ_data.ledger_clockwork set last_no = greatest(v_last, v_nos[cardinality(v_nos)]), open_xids = v_still_open, next_xid = v_still_next;
  return cardinality(v_nos);
end $$;
