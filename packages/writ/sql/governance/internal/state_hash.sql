-- Returns the hash of a state: of its JSON as the database writes it. A restored state has the hash
-- that it had before.
create or replace function writ_data.state_hash(p_state jsonb) returns bytea
language sql immutable
return sha256(convert_to(p_state::text, 'UTF8'));
