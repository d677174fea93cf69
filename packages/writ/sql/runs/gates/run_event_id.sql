-- The id of an event: it follows from its run and its number (UUIDv8, the first bytes of their
-- SHA-256).
-- Callers: processes, readers
create or replace function writ.run_event_id(
  p_run_id uuid,
  p_run_seq integer
) returns uuid
language sql immutable security definer
set search_path = pg_catalog, pg_temp
return (
  select encode(
    set_byte(
      set_byte(h.h, 6, get_byte(h.h, 6) & 15 | 128),
      8, get_byte(h.h, 8) & 63 | 128
    ),
    'hex'
  )::uuid
  from (
    select substring(
      sha256(convert_to(p_run_id::text || '|' || p_run_seq, 'UTF8')) from 1 for 16
    ) as h
  ) h
);
