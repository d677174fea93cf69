-- Says whether a worker that was heard of lately takes jobs of a kind.
create or replace function writ_data.kind_is_served(p_kind text) returns boolean
language sql stable
begin atomic
  select exists (
    select from writ.v_queue_heartbeat h
    where p_kind = any (h.kinds) and h.freshness <> 'stale'
  );
end;
