-- What a tenant is entitled to, from now on: {entitlement_id, status, tier, quota_limit, expires_at, told_at}; what is not named stays. quota_limit is that of the tier unless given. Its governors hear of it. For principals with the right to operate. One that was told before what stands changes nothing. Answers what stands.
-- Callers: writ_principal, writ_server
create or replace function writ.fn_entitlement_put(p_key text, p_entitlement jsonb, p_tenant text) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := writ.now(); m record; v writ_data.entitlement; v_tier text; v_content jsonb;
begin
  m := writ_data.may(p_key, 'operate', p_tenant);
  if m.refusal is not null then
    return m.refusal;
  end if;
  select * into v from writ_data.entitlement where tenant_id = p_tenant for no key update;
  if (p_entitlement ->> 'told_at')::timestamptz < v.told_at then
    return to_jsonb(v);
  end if;
  v_tier := coalesce(p_entitlement ->> 'tier', v.tier, 'free');
  insert into writ_data.entitlement as e (tenant_id, entitlement_id, status, tier, quota_limit, expires_at, told_at, put_by, put_at)
  values (p_tenant, coalesce(p_entitlement ->> 'entitlement_id', v.entitlement_id, p_tenant), coalesce(p_entitlement ->> 'status', v.status, 'ACTIVE'), v_tier,
    case when p_entitlement ? 'quota_limit' then (p_entitlement ->> 'quota_limit')::bigint when p_entitlement ? 'tier' or v.tenant_id is null then case v_tier when 'free' then 50 when 'starter' then 500 when 'professional' then 5000 end else v.quota_limit end,
    case when p_entitlement ? 'expires_at' then date_trunc('milliseconds', (p_entitlement ->> 'expires_at')::timestamptz) else v.expires_at end,
    coalesce((p_entitlement ->> 'told_at')::timestamptz, v.told_at), (m.who).principal_id, v_now)
  on conflict (tenant_id) do update set entitlement_id = excluded.entitlement_id, status = excluded.status, tier = excluded.tier, quota_limit = excluded.quota_limit, expires_at = excluded.expires_at, told_at = excluded.told_at, put_by = excluded.put_by, put_at = excluded.put_at
  returning * into v;
  v_content := jsonb_build_object('kind', 'entitlement', 'entitlement', writ_data.entitlement_of(p_tenant), 'quota', writ_data.quota_of(p_tenant, v_now));
  perform writ_data.put_mail(array_agg(g.governor_id), array_agg(v_content), v_now) from writ_data.governor g where g.tenant_id = p_tenant having count(*) > 0;
  return to_jsonb(v);
exception when check_violation or not_null_violation or data_exception then
  return writ_data.refusal('invalid_entitlement', sqlerrm);
end $$;
