-- Returns a lane for a kind, tenant, limit key and priority: an existing one that is not about to
-- be removed, or a new one. Two callers that need the first at the same time make two, and neither
-- waits for the other's transaction: claims visit both. The caller must have a transaction id by
-- now, because a lane is removed only when every transaction that may have seen it open has ended.
-- A caller whose snapshot is older than its id locks the lane: if the lane that it sees has gone,
-- PostgreSQL makes it try again (40001).
create or replace function writ_data.open_lane(
  p_kind text,
  p_tenant text,
  p_limit_key text,
  p_priority smallint,
  p_alone boolean
) returns bigint
language plpgsql
as $$
declare
  v_lane bigint;
begin
  select lane_id
  into v_lane
  from writ_data.lane
  where job_kind = p_kind
    and tenant_id = p_tenant
    and limit_key = coalesce(p_limit_key, '')
    and priority = p_priority
    and alone = p_alone
    and closing is null
  limit 1;
  if found and current_setting('transaction_isolation') <> 'read committed' then
    perform from writ_data.lane where lane_id = v_lane for key share;
  elsif not found then
    insert into writ_data.lane (job_kind, tenant_id, limit_key, priority, alone)
    values (p_kind, p_tenant, coalesce(p_limit_key, ''), p_priority, p_alone)
    returning lane_id
    into v_lane;
  end if;
  return v_lane;
end $$;
