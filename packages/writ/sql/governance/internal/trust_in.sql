-- Returns the trust that an applier names in an item: 'database', or the SHA-256 of its trust file
-- in hexadecimal. Null for anything else.
create or replace function writ_data.trust_in(p_item jsonb) returns text
language sql immutable
return case
  when p_item ->> 'trust' = 'database' or p_item ->> 'trust' ~ '^[0-9a-f]{64}$'
    then p_item ->> 'trust'
end;
