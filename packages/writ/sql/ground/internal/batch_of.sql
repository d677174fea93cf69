-- The batch that a fact is recorded in: its id with zeros for the ordinal.
create or replace function writ_data.batch_of(p_event_id uuid) returns uuid
language sql immutable
return (left(p_event_id::text, 30) || '000000')::uuid;
