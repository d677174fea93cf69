-- Hashes the next segment of the record into one root, and writes a receipt of it. It takes the
-- rows of transactions that are older than every open one, in the order (xid, id), so that one
-- which commits late is late and not passed over. Answers how many rows it sealed. The caller holds
-- the clockwork.
create or replace function writ_data.seal_events(p_rows integer, p_at timestamptz) returns integer language plpgsql
  set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  c writ_data.ledger_clockwork; v_horizon xid8; v_next xid8; v_restored boolean;
  v_n integer; v_facts bigint; v_leaves bytea; v_first uuid; v_xid xid8; v_id uuid; v_upto uuid; v_root bytea; v_no bigint;
begin
  select * into c from writ_data.ledger_clockwork;
  select pg_snapshot_xmin(s), pg_snapshot_xmax(s) into v_horizon, v_next from pg_current_snapshot() s;
  -- A position ahead of the server's own transactions comes from another server, by dump and
  -- restore. What was restored is committed: seal it to its end.
  v_restored := c.seal_xid > v_next;
  select count(*), sum(d.facts), string_agg(d.hash, ''::bytea order by d.xid, d.batch_id), (array_agg(d.batch_id order by d.xid, d.batch_id))[1],
    max(d.xid::text::numeric)::text::xid8, (array_agg(d.batch_id order by d.xid desc, d.batch_id desc))[1],
    max(d.batch_id::text)::uuid
  into v_n, v_facts, v_leaves, v_first, v_xid, v_id, v_upto
  from (
    select b.xid, b.batch_id, sha256(decode('00', 'hex') || convert_to(writ_data.event_document(b), 'UTF8')) as hash,
      (select coalesce(sum(greatest(0, r.last - r.first + 1)), 0) from unnest(b.first, b.last) r(first, last)) as facts
    from writ_data.event_batch b
    where (b.xid, b.batch_id) > (c.seal_xid, c.seal_id) and b.xid < case when v_restored then '18446744073709551615' else v_horizon end and b.batch_id > c.seal_since
    order by b.xid, b.batch_id limit p_rows
  ) d;
  if v_n = 0 then
    if v_restored then
      -- Then begin anew with the transactions of this server, and leave alone what came with the
      -- dump.
      update writ_data.ledger_clockwork set seal_xid = '0', seal_id = '00000000-0000-0000-0000-000000000000',
        seal_since = greatest(c.seal_since::text, (select max(s.upto::text) from writ_data.event_seal s))::uuid;
    end if;
    return 0;
  end if;
  v_root := writ_data.tree_root((writ_data.tree_grow(0, '', v_leaves)).frontier);
  v_no := writ_data.system_receipt('events_sealed', 'seal', jsonb_build_object('source', 'event_outbox', 'segment', c.segment + 1, 'rows', v_n, 'facts', v_facts,
    'first', v_first, 'last', v_id, 'root', encode(v_root, 'hex')), p_at);
  insert into writ_data.event_seal (segment, from_xid, from_id, to_xid, to_id, since, upto, n_rows, root, leaves, receipt_no, sealed_at)
  values (c.segment + 1, c.seal_xid, c.seal_id, v_xid, v_id, c.seal_since, v_upto, v_n, v_root, v_leaves, v_no, p_at);
  update writ_data.ledger_clockwork set segment = c.segment + 1, seal_xid = v_xid, seal_id = v_id;
  return v_n;
end $$;
