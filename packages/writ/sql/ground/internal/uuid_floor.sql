-- Returns the smallest UUIDv7 of a moment, so that ids can be compared with times.
create or replace function writ_data.uuid_floor(p_at timestamptz) returns uuid
language sql stable
return (
  lpad(to_hex(floor(extract(epoch from p_at) * 1000)::bigint), 12, '0') || '70008000000000000000'
)::uuid;
