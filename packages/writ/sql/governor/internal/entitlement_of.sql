-- Returns the entitlement of a tenant as governors read it: {status, expires_at in milliseconds,
-- quota_limit}; null: nothing is known.
create or replace function writ_data.entitlement_of(p_tenant text) returns jsonb
language sql stable
begin atomic
  select jsonb_build_object('status', e.status, 'quota_limit', e.quota_limit)
    || case
      when e.expires_at is null then '{}'
      else jsonb_build_object('expires_at', (extract(epoch from e.expires_at) * 1000)::bigint)
    end
  from writ_data.entitlement e
  where e.tenant_id = p_tenant;
end;
