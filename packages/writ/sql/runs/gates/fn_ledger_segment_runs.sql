-- Reads the events of runs that the rows of a segment seal, as the bytes that were hashed.
-- Callers: writ_signer, readers
-- Answers: a row per event, in the order in which the segment names them. document is null for an
--          event that is not there, and kept says whether its run is; if not, the run is past its
--          retention. A caller that is limited to one tenant gets no rows.
-- Locks:   none.
create or replace function writ.fn_ledger_segment_runs(p_segment bigint) returns table (
  kept boolean,
  document text
)
language plpgsql security definer stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
begin
  return query
    select
      r.run_id is not null,
      case when e.run_id is not null then writ_data.run_event_document(
        e.run_id, e.run_seq, e.event_type, e.step_id, e.logical_attempt, e.engine_attempt,
        e.data::text, e.signal_id, e.at) end
    from writ_data.event_seal s
    join writ_data.event_batch b
      on (b.xid, b.batch_id) > (s.from_xid, s.from_id)
      and (b.xid, b.batch_id) <= (s.to_xid, s.to_id)
      and b.batch_id > s.since and b.batch_id <= s.upto
      and b.run_ids is not null
    cross join lateral unnest(b.run_ids, b.run_seqs) with ordinality u(run, seq, n)
    left join lateral (
      select x.run_id from writ_data.run x where x.run_id = u.run offset 0) r on true
    left join lateral (
      select x.* from writ_data.run_event x
      where x.run_id = u.run and x.run_seq = u.seq offset 0) e on true
    where s.segment = p_segment and writ_data.caller_tenant() is null
    order by b.xid, b.batch_id, u.n;
end $$;
