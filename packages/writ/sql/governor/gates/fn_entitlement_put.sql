-- Changes a tenant's entitlement. The principal needs the right to operate.
-- Callers: writ_principal, writ_server
-- Answers: the entitlement now in force. A call with an older told_at than the stored one changes
--          nothing.
-- Refuses: as writ_data.may does; invalid_entitlement.
-- Locks:   the entitlement, and the mailboxes of the tenant's governors, which receive the change.
--
-- p_entitlement is {entitlement_id, status, tier, quota_limit, expires_at, told_at}; absent fields
-- do not change. The default quota_limit is that of the tier. A change leaves a receipt.
create or replace function writ.fn_entitlement_put(
  p_key text,
  p_entitlement jsonb,
  p_tenant text
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  v_may record;
  v_told timestamptz;
  v_was writ_data.entitlement;
  v_is writ_data.entitlement;
  v_tier text;
  v_content jsonb;
begin
  v_may := writ_data.may(p_key, 'operate', p_tenant);
  if v_may.refusal is not null then
    return v_may.refusal;
  elsif jsonb_typeof(p_entitlement) is distinct from 'object' then
    return writ_data.refusal('invalid_entitlement', 'An entitlement is an object.');
  elsif (
      length(coalesce(p_entitlement ->> 'entitlement_id', p_tenant)) between 1 and 200
    ) is not true
    or (p_tenant ~ '^[A-Za-z0-9][A-Za-z0-9_.:@-]{0,99}$') is not true then
    return writ_data.refusal('invalid_entitlement', 'tenant and entitlement_id are names');
  end if;
  v_told := writ_data.moment(p_entitlement ->> 'told_at');
  if v_told > v_now + interval '5 minutes' then
    -- A told_at in the future would make every later change count as older.
    return writ_data.refusal('invalid_entitlement', 'told_at is in the future');
  end if;

  select * into v_was
  from writ_data.entitlement
  where tenant_id = p_tenant
  for no key update;
  if v_told < v_was.told_at then
    return to_jsonb(v_was);
  end if;

  v_tier := coalesce(p_entitlement ->> 'tier', v_was.tier, 'free');
  insert into writ_data.entitlement as e (tenant_id, entitlement_id, status, tier, quota_limit,
    expires_at, told_at, put_by, put_at)
  values (p_tenant,
    coalesce(p_entitlement ->> 'entitlement_id', v_was.entitlement_id, p_tenant),
    coalesce(p_entitlement ->> 'status', v_was.status, 'ACTIVE'), v_tier,
    case
      when p_entitlement ? 'quota_limit' then (p_entitlement ->> 'quota_limit')::bigint
      when p_entitlement ? 'tier' or v_was.tenant_id is null then
        case v_tier when 'free' then 50 when 'starter' then 500 when 'professional' then 5000 end
      else v_was.quota_limit
    end,
    case when p_entitlement ? 'expires_at'
      then date_trunc('milliseconds', writ_data.moment(p_entitlement ->> 'expires_at'))
      else v_was.expires_at end,
    coalesce(v_told, v_was.told_at), (v_may.who).principal_id, v_now)
  on conflict (tenant_id) do update set entitlement_id = excluded.entitlement_id,
    status = excluded.status, tier = excluded.tier, quota_limit = excluded.quota_limit,
    expires_at = excluded.expires_at, told_at = excluded.told_at, put_by = excluded.put_by,
    put_at = excluded.put_at
  returning * into v_is;

  if (v_was.entitlement_id, v_was.status, v_was.tier, v_was.quota_limit, v_was.expires_at)
    is distinct from
    (v_is.entitlement_id, v_is.status, v_is.tier, v_is.quota_limit, v_is.expires_at)
  then
    perform writ_data.on_control_changed(p_tenant, 'entitlement', v_is.entitlement_id,
      case when v_was.tenant_id is not null
        then to_jsonb(v_was) - '{tenant_id,told_at,put_by,put_at}'::text[] end,
      to_jsonb(v_is) - '{tenant_id,told_at,put_by,put_at}'::text[], v_is.put_by, v_now);
  end if;
  v_content := jsonb_build_object('kind', 'entitlement',
    'entitlement', writ_data.entitlement_of(p_tenant),
    'quota', writ_data.quota_of(p_tenant, v_now));
  perform writ_data.put_mail(array_agg(g.governor_id), array_agg(v_content), v_now)
  from writ_data.governor g
  where g.tenant_id = p_tenant
  having count(*) > 0;
  return to_jsonb(v_is);
exception when check_violation or not_null_violation or data_exception then
  return writ_data.refusal('invalid_entitlement', sqlerrm);
end $$;
