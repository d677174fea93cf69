-- Reads the sealed rows of a segment as the bytes that were hashed.
-- Callers: writ_signer, readers
-- Answers: the rows in the order of their leaves. Rows that were dropped since are missing. A
--          segment covers all tenants, so a caller that is limited to one tenant gets no rows.
-- Locks:   none.
--
-- The query also bounds the ids, because after a restore into another server new transactions may
-- reuse the numbers of these.
create or replace function writ.fn_ledger_segment(p_segment bigint) returns table (
  batch_id uuid,
  document text
)
language plpgsql security definer stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
begin
  return query
    select b.batch_id, writ_data.event_document(b)
    from writ_data.event_seal s
    join writ_data.event_batch b
      on (b.xid, b.batch_id) > (s.from_xid, s.from_id)
      and (b.xid, b.batch_id) <= (s.to_xid, s.to_id)
      and b.batch_id > s.since and b.batch_id <= s.upto
    where s.segment = p_segment and writ_data.caller_tenant() is null
    order by b.xid, b.batch_id;
end $$;
