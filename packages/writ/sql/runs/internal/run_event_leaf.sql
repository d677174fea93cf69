-- Returns the RFC 6962 leaf hash of an event of a run.
create or replace function writ_data.run_event_leaf(
  p_run uuid,
  p_seq integer,
  p_type text,
  p_step text,
  p_attempt text,
  p_engine_attempt integer,
  p_data text,
  p_signal uuid,
  p_at timestamptz
) returns bytea
language sql stable
return sha256(
  '\x00'::bytea
    || convert_to(
      writ_data.run_event_document(
        p_run, p_seq, p_type, p_step, p_attempt, p_engine_attempt, p_data, p_signal, p_at
      ),
      'UTF8'
    )
);
