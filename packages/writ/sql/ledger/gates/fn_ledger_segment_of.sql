-- Finds the segment that seals an event, by the event's id.
-- Callers: writ_signer, readers
-- Answers: its number; null if the event is not sealed yet or does not exist, and for a caller that
--          is limited to one tenant.
-- Locks:   none.
create or replace function writ.fn_ledger_segment_of(p_event_id uuid) returns bigint
language sql security definer stable
set search_path = pg_catalog, pg_temp
begin atomic
  select s.segment
  from writ_data.event_batch b
  join writ_data.event_seal s
    on (s.to_xid, s.to_id) >= (b.xid, b.batch_id)
    and (s.from_xid, s.from_id) < (b.xid, b.batch_id)
    and b.batch_id > s.since and b.batch_id <= s.upto
  where b.batch_id = writ_data.batch_of(p_event_id) and writ_data.caller_tenant() is null
  order by s.to_xid, s.to_id
  limit 1;
end;
