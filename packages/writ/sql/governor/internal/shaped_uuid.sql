-- A UUID of the given version from the first 16 bytes of a hash.
create or replace function writ_data.shaped_uuid(
  p_hash bytea,
  p_version integer
) returns uuid
language sql immutable parallel safe
-- Each byte is counted from its lowest bit: the version is in bits 52 to 55, the variant in 70, 71.
return encode(set_bit(set_bit(set_bit(set_bit(set_bit(set_bit(substr(p_hash, 1, 16),
  52, p_version & 1), 53, p_version >> 1 & 1), 54, p_version >> 2 & 1), 55, p_version >> 3 & 1),
  70, 0), 71, 1), 'hex')::uuid;
