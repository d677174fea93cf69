-- Admits one request to the API server: finds its principal, checks one right, and answers the
-- tenant that the request is about.
-- Callers: writ_server
-- p_caller: {api_key, secret_sha256 (hexadecimal)}, or {principal} whose token the server checked.
-- p_right: what the request needs; null: nothing but a known principal.
-- p_tenant_id: null: the tenant of the key or its principal, otherwise `default`.
-- p_all_tenants: the request is about all tenants, so a key or principal of one may not make it.
-- Answers: {principal_id, kind, tenant_id, rights: those of the principal that the key leaves}.
-- Refuses: not_authenticated, not_authorized, agents_only_propose, TENANT_ACCESS_DENIED. A denial
--          of a known principal leaves a receipt (deny).
--
-- Gates that act check the right of the principal again. Nothing else checks what the key is
-- narrowed to.
create or replace function writ.fn_caller_admit(
  p_caller jsonb,
  p_right text default null,
  p_tenant_id text default null,
  p_all_tenants boolean default false
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
  v_now timestamptz := writ.now();
  k writ_data.api_key;
  v_who writ_data.principal;
  v_tenant text;
  v_own text;  -- the one tenant of the key or its principal; null: every one
  m record;
begin
  if p_caller ? 'api_key' then
    select x.* into k
    from writ_data.api_key x
    where x.key_id = p_caller ->> 'api_key'
      and encode(x.secret_sha256, 'hex') = p_caller ->> 'secret_sha256'
      and x.revoked_at is null and x.expires_at > v_now;
    if not found then
      return writ_data.refusal('not_authenticated');
    end if;
  end if;
  select * into v_who
  from writ_data.principal_of(coalesce(k.principal_id, p_caller ->> 'principal'));
  if v_who.principal_id is null then
    return writ_data.refusal('not_authenticated');
  end if;
  v_tenant := coalesce(p_tenant_id, k.tenant_id, v_who.tenant_id, 'default');

  v_own := coalesce(v_who.tenant_id, k.tenant_id);
  if k.tenant_id <> v_tenant or (p_all_tenants and v_own is not null) then
    return writ_data.deny(
      v_who, coalesce(p_right, 'any'), v_own, 'TENANT_ACCESS_DENIED',
      case when p_all_tenants then 'all tenants' else left(v_tenant, 200) end, v_now, v_tenant
    );
  elsif p_right <> all (k.rights) and not (p_right = 'report' and 'operate' = any (k.rights)) then
    return writ_data.deny(
      v_who, p_right, coalesce(v_who.tenant_id, 'default'), 'not_authorized',
      format('The key of %s leaves out the right to %s.', v_who.principal_id,
        replace(left(p_right, 100), '_', ' ')),
      v_now, v_tenant
    );
  end if;
  m := writ_data.may(v_who.principal_id, coalesce(p_right, v_who.rights[1], 'view'), v_tenant);
  if m.refusal is not null then
    return m.refusal;
  end if;

  -- Once a minute is enough, and costs a busy key nothing.
  if k.key_id is not null and (k.last_used_at > v_now - interval '1 minute') is not true then
    update writ_data.api_key
    set last_used_at = v_now
    where ctid = any (array(
      select x.ctid from writ_data.api_key x where x.key_id = k.key_id for no key update skip locked
    ));
  end if;
  return jsonb_build_object(
    'principal_id', v_who.principal_id,
    'kind', v_who.kind,
    'tenant_id', v_tenant,
    'rights', to_jsonb(array(
      select r.name
      from unnest(v_who.rights) r(name)
      where k.rights is null or r.name = any (k.rights)
    ))
  );
end $$;
