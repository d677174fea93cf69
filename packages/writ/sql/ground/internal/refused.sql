-- Refuses a call, and records that: which gate, who called it, and why. The record is lost if the
-- caller rolls back, and that the queue is switched off is on record with its setting.
create or replace function writ_data.refused(
  p_command text,
  p_actor text,
  p_reason text,
  p_detail text default null
) returns jsonb
language plpgsql
as $$
begin
  perform writ_data.record(
    p_command, left(coalesce(nullif(btrim(p_actor), ''), session_user), 200), writ.now(),
    '{}', '{}', '{}', '{}',
    p_note => left(concat_ws(': ', 'refused', p_reason, p_detail), 1000)
  );
  return writ_data.refusal(p_reason, p_detail);
end $$;
