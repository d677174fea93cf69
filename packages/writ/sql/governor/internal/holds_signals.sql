-- Whether signals wait for a governor: in the buffer of a storm, postponed, or released.
create or replace function writ_data.holds_signals(
  p_data jsonb,
  p_waiting jsonb
) returns boolean
language sql immutable parallel safe
return jsonb_typeof(p_data -> 'storm') = 'object'
  or p_waiting -> 'queue' <> '[]'
  or p_waiting -> 'postponed' <> '[]';
