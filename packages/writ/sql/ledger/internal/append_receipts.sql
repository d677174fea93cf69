-- Writes receipts in the transaction of what they are about. p_entries are their RFC 8785 bytes, in
-- the order in which they happened; log, stream and number are read from them. p_erasables is what
-- they keep out of line, [{entry, hash, salt, value}]: which entry, from 1, and hash and salt in
-- hexadecimal. Answers the numbers of the receipts. Raises WR001 invalid_receipt if an entry is not
-- a receipt.
-- Locks:   the caller holds the row that each stream counts in.
create or replace function writ_data.append_receipts(
  p_entries text[],
  p_at timestamptz,
  p_erasables jsonb default null
) returns bigint[]
language plpgsql
set plan_cache_mode = force_generic_plan
as $$
declare
  -- Taken before a number of a receipt is, so that the sequencer knows when no transaction is left
  -- that may have taken one.
  v_xid xid8 := pg_current_xact_id();
  v_nos bigint[];
begin
  perform writ_data.open_month(p_at);

  -- One scan, in the order of the array: a sort would copy every entry.
  with written as (
    insert into writ_data.receipt (at, log_id, stream, stream_seq, receipt_id, entry, leaf_hash)
    select
      p_at,
      g.r ->> 'tenant_id',
      g.c ->> 'stream',
      (g.c ->> 'stream_seq')::bigint,
      (g.r ->> 'receipt_id')::uuid,
      g.entry,
      sha256(decode('00', 'hex') || convert_to(g.entry, 'UTF8'))
    from (
      select p.entry, p.r, p.r -> 'context' as c
      from (select e.entry, e.entry::jsonb as r from unnest(p_entries) e(entry) offset 0) p
      offset 0
    ) g
    where g.r ->> 'status' = any ((
      select known.statuses
      from writ_data.receipt_reason known
      where known.reason = g.r ->> 'reason'
    )::text[])
      and g.r ?& '{receipt_id,timestamp,sku_id,tenant_id,status,reason,context}'
      and g.r - '{receipt_id,timestamp,sku_id,tenant_id,status,reason,context}'::text[] = '{}'
      -- Only the deployment itself writes to its own log.
      and (g.r ->> 'tenant_id' <> '_system' or g.r ->> 'sku_id' = 'writ')
      and jsonb_typeof(g.c -> 'stream_seq') = 'number'
      and jsonb_typeof(g.c -> 'stream') = 'string'
    returning receipt_no
  )
  select array_agg(receipt_no) into v_nos from written;
  if coalesce(cardinality(v_nos), 0) <> cardinality(p_entries) then
    raise exception using
      errcode = 'WR001',
      message = 'invalid_receipt',
      detail = format(
        '%s of %s entries are not receipts: the container, a known reason with one of its '
        'statuses, and a place in a stream.',
        cardinality(p_entries) - coalesce(cardinality(v_nos), 0),
        cardinality(p_entries)
      ),
      hint = 'Make receipts with receipt() and canonicalize().';
  end if;

  if p_erasables is not null then
    insert into writ_data.receipt_erasable (receipt_no, hash, salt, value)
    select v_nos[x.entry], decode(x.hash, 'hex'), decode(x.salt, 'hex'), x.value
    from jsonb_to_recordset(p_erasables) x(entry integer, hash text, salt text, value jsonb);
  end if;
  return v_nos;
end $$;
