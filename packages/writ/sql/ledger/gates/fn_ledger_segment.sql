-- The sealed rows of a segment, in the order of their leaves, as the bytes that were hashed. What has been dropped since is missing. Its ids are bounded too:
-- after a dump is restored into another server, transactions may come to have the numbers again that these had. Of all tenants, so none when one is set.
-- Callers: writ_signer, readers
create or replace function writ.fn_ledger_segment(p_segment bigint) returns table (batch_id uuid, document text)
  language plpgsql security definer stable set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
begin
  return query
    select b.batch_id, writ_data.event_document(b)
    from writ_data.event_seal s join writ_data.event_batch b
      on (b.xid, b.batch_id) > (s.from_xid, s.from_id) and (b.xid, b.batch_id) <= (s.to_xid, s.to_id) and b.batch_id > s.since and b.batch_id <= s.upto
    where s.segment = p_segment and writ_data.caller_tenant() is null
    order by b.xid, b.batch_id;
end $$;
