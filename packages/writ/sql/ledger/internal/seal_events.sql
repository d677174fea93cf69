-- Hashes the next segment of the record into one root, and writes a receipt of it. It takes rows
-- within writ_data.record_bounds, so one that commits late is late and not passed over. Answers how
-- many rows it sealed. The caller holds the clockwork.
create or replace function writ_data.seal_events(
  p_rows integer,
  p_at timestamptz
) returns integer
language plpgsql
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_clockwork writ_data.ledger_clockwork;
  v_from record;        -- bounds of what it reads
  v_rows integer;
  v_facts bigint;
  v_leaves bytea;       -- the hashes of the rows
  v_first uuid;
  v_xid xid8;           -- of the last row
  v_last uuid;
  v_upto uuid;          -- the greatest id
  v_root bytea;
  v_no bigint;          -- of the receipt
begin
  select * into v_clockwork from writ_data.ledger_clockwork;
  select * into v_from from writ_data.record_bounds(v_clockwork.sealed);

  select
    count(*), sum(d.facts), string_agg(d.hash, ''::bytea order by d.xid, d.batch_id),
    (array_agg(d.batch_id order by d.xid, d.batch_id))[1],
    (array_agg(d.xid order by d.xid desc, d.batch_id desc))[1],
    (array_agg(d.batch_id order by d.xid desc, d.batch_id desc))[1],
    max(d.batch_id::text)::uuid
  into v_rows, v_facts, v_leaves, v_first, v_xid, v_last, v_upto
  from (
    select
      b.xid, b.batch_id,
      sha256(decode('00', 'hex') || convert_to(writ_data.event_document(b), 'UTF8')) as hash,
      (
        select coalesce(sum(greatest(0, r.last - r.first + 1)), 0)
        from unnest(b.first, b.last) r(first, last)
      ) as facts
    from writ_data.event_batch b
    where (b.xid, b.batch_id) > ((v_from.start).xid, (v_from.start).fact) and b.xid < v_from.horizon
      and b.batch_id > (v_from.start).era and b.batch_id <= v_from.until
    order by b.xid, b.batch_id
    limit p_rows
  ) d;
  if v_rows = 0 then
    return 0;
  end if;

  v_root := writ_data.tree_root((writ_data.tree_grow(0, '', v_leaves)).frontier);
  v_no := writ_data.system_receipt('events_sealed', 'seal', jsonb_build_object(
    'source', 'event_outbox', 'segment', v_clockwork.segment + 1, 'rows', v_rows,
    'facts', v_facts, 'first', v_first, 'last', v_last, 'root', encode(v_root, 'hex')
  ), p_at);
  insert into writ_data.event_seal (
    segment, from_xid, from_id, to_xid, to_id, since, upto, n_rows, root, leaves, receipt_no,
    sealed_at
  )
  values (
    v_clockwork.segment + 1, (v_from.start).xid, (v_from.start).fact, v_xid, v_last,
    (v_from.start).era, v_upto, v_rows, v_root, v_leaves, v_no, p_at
  );
  update writ_data.ledger_clockwork
  set
    segment = v_clockwork.segment + 1,
    sealed = row((v_from.start).era, v_xid, writ_data.fact_id(v_last, 16777215));
  return v_rows;
end $$;
