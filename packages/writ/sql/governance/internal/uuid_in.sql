-- The uuid under a key of an item of a batch; null where there is none, or something else. One item
-- that is malformed must not raise for the whole batch.
create or replace function writ_data.uuid_in(p_item jsonb, p_key text) returns uuid
language sql immutable
return case
  when p_item ->> p_key ~* '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$'
    then (p_item ->> p_key)::uuid
end;
