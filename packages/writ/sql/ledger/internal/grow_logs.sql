-- Appends receipts to the trees of their logs, in the order of their numbers.
-- Raises:  WR001 invalid_receipt for a leaf hash that does not have 32 bytes, because it would
--          shift its neighbours.
create or replace function writ_data.grow_logs(
  p_nos bigint[],
  p_logs text[],
  p_hashes bytea[],
  p_at timestamptz
) returns void
language plpgsql
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_grown record;
  g record;
begin
  insert into writ_data.ledger_log (log_id)
  select distinct log from unnest(p_logs) log
  on conflict do nothing;
  insert into writ_data.ledger_leaf (log_id, leaf_index, receipt_no, leaf_hash)
  select x.log, l.size + u.n - 1, u.no, u.hash
  from (
    select u.log, array_agg(u.no order by u.no) as nos, array_agg(u.hash order by u.no) as hashes
    from unnest(p_nos, p_logs, p_hashes) u(no, log, hash)
    group by u.log) x
  join writ_data.ledger_log l on l.log_id = x.log
  cross join lateral unnest(x.nos, x.hashes) with ordinality u(no, hash, n);

  for g in
    select l.log_id, l.size, l.frontier, x.hashes, x.n
    from (
      select u.log, string_agg(u.hash, ''::bytea order by u.no) as hashes, count(*) as n
      from unnest(p_nos, p_logs, p_hashes) u(no, log, hash)
      group by u.log) x
    join writ_data.ledger_log l on l.log_id = x.log
  loop
    if octet_length(g.hashes) <> 32 * g.n then
      raise exception using
        errcode = 'WR001',
        message = 'invalid_receipt',
        detail = format('A leaf hash of log %s has not 32 bytes.', g.log_id);
    end if;
    v_grown := writ_data.tree_grow(g.size, g.frontier, g.hashes);
    insert into writ_data.ledger_node (log_id, level, node_index, hash)
    select g.log_id, 8 * k, (g.size >> (8 * k)) + i,
      substring(v_grown.nodes[k] from 32 * i + 1 for 32)
    from generate_series(1, cardinality(v_grown.nodes)) k
    cross join lateral generate_series(0, octet_length(v_grown.nodes[k]) / 32 - 1) i;
    update writ_data.ledger_log
    set size = g.size + g.n, frontier = v_grown.frontier,
      root = writ_data.tree_root(v_grown.frontier), grown_at = p_at
    where log_id = g.log_id;
  end loop;
end $$;
