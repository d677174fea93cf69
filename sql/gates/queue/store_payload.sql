-- internal
-- Stores bodies by content and answers their hashes in the given order. A body that is there already is not written again;
-- sorted, so that two calls with the same bodies cannot wait for each other in a circle.
create or replace function writ_data.store_payload(p_tenants text[], p_bodies text[]) returns bytea[] language plpgsql as $$
declare
  v_hashes bytea[];
begin
  select array_agg(sha256(convert_to(b, 'UTF8')) order by n) into v_hashes
  from unnest(p_bodies) with ordinality u(b, n);
  insert into writ_data.payload (tenant_id, sha256, body)
  select t, h, b from unnest(p_tenants, v_hashes, p_bodies) u(t, h, b) where b is not null and t is not null
  order by t, h
  on conflict do nothing;
  return v_hashes;
end $$;
