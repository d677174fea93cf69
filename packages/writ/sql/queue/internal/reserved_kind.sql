-- Says whether a kind belongs to Writ: no caller enqueues, registers or finishes such jobs through
-- the gates of the queue.
-- Answers: true for governance.*, governor.* and writ.*; null for null.
create or replace function writ_data.reserved_kind(p_kind text) returns boolean
language sql immutable parallel safe
return starts_with(p_kind, 'governance.')
  or starts_with(p_kind, 'governor.')
  or starts_with(p_kind, 'writ.');
