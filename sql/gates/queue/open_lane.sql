-- internal
-- The lane of a kind, tenant, limit key and priority, made if there is none and kept if it was about to be removed. The caller has a transaction
-- id by now: a lane is removed only when every transaction that may have seen it open has ended.
create or replace function writ_data.open_lane(p_kind text, p_tenant text, p_limit_key text, p_priority smallint, p_alone boolean) returns bigint
  language plpgsql as $$
declare
  v_lane bigint;
begin
  select lane_id into v_lane from writ_data.lane
  where job_kind = p_kind and tenant_id = p_tenant and limit_key = coalesce(p_limit_key, '') and priority = p_priority and alone = p_alone and closing is null;
  if not found then
    insert into writ_data.lane as l (job_kind, tenant_id, limit_key, priority, alone) values (p_kind, p_tenant, coalesce(p_limit_key, ''), p_priority, p_alone)
    on conflict (job_kind, tenant_id, limit_key, priority, alone) do update set closing = null
    returning l.lane_id into v_lane;
  end if;
  return v_lane;
end $$;
