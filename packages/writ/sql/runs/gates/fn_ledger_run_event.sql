-- Reads an event of a run as the bytes that were hashed, and the row of the record that seals it.
-- Callers: writ_signer, readers
-- Answers: one row; none for an event that is not there or is of another tenant.
-- Locks:   none.
create or replace function writ.fn_ledger_run_event(
  p_run_id uuid,
  p_run_seq integer
) returns table (
  batch_id uuid,
  document text
)
language sql security definer stable
set search_path = pg_catalog, pg_temp
begin atomic
  select
    e.batch_id,
    writ_data.run_event_document(
      e.run_id, e.run_seq, e.event_type, e.step_id, e.logical_attempt, e.engine_attempt,
      e.data::text, e.signal_id, e.at)
  from writ_data.run_event e
  join writ_data.run r on r.run_id = e.run_id
  where e.run_id = p_run_id and e.run_seq = p_run_seq and writ_data.visible(r.tenant_id);
end;
