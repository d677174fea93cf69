-- Formats an event of a run as the bytes that are hashed: a JSON array. Types, steps and attempts
-- have no character that JSON would escape. The time is in microseconds since 1970.
create or replace function writ_data.run_event_document(
  p_run uuid,
  p_seq integer,
  p_type text,
  p_step text,
  p_attempt text,
  p_engine_attempt integer,
  p_data text,
  p_signal uuid,
  p_at timestamptz
) returns text
language sql stable
return concat(
  '["', p_run, '",', p_seq, ',"', p_type, '","', p_step, '","', p_attempt, '",',
  coalesce(p_engine_attempt::text, 'null'), ',', p_data, ',',
  case when p_signal is null then 'null' else '"' || p_signal::text || '"' end,
  ',',
  round(date_part('epoch', p_at) * 1000000)::bigint,
  ']'
);
