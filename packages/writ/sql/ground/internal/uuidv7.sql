-- Generates a UUIDv7 (RFC 9562). Some supported servers have no function for it; one function on
-- all of them behaves alike everywhere.
create or replace function writ_data.uuidv7() returns uuid
language sql volatile
return encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
  placing substring(int8send(floor(extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
  from 1 for 6), 52, 1), 53, 1), 'hex')::uuid;
