-- Who calls: p_key is a name and what authenticates it, in hexadecimal, with a colon between. No row: nobody who is known, or no longer.
create or replace function writ_data.principal_of(p_key text) returns setof writ_data.principal language sql stable
begin atomic
  select p.* from writ_data.principal p
  where p.principal_id = split_part(p_key, ':', 1) and p.disabled_at is null and split_part(p_key, ':', 2) ~ '^[0-9a-f]{64}$' and p.auth_sha256 = sha256(decode(split_part(p_key, ':', 2), 'hex'));
end;
