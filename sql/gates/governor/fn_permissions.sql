-- What principals may have done by a governor, in a tenant: [{principal, permissions, hash}]; one that is not known there, or no longer, may nothing. hash: of what the answer follows from.
-- Callers: writ_applier, writ_engine
create or replace function writ.fn_permissions(p_tenant text, p_principals text[]) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return (select coalesce(jsonb_agg(jsonb_build_object('principal', u.id, 'permissions', x.permissions, 'hash', encode(sha256(convert_to(jsonb_build_object('principal', u.id, 'permissions', x.permissions)::text, 'UTF8')), 'hex')) order by u.n), '[]')
    from unnest(p_principals) with ordinality u(id, n) left join writ_data.principal p on p.principal_id = u.id and p.disabled_at is null and coalesce(p.tenant_id, p_tenant) = p_tenant and writ_data.visible(p_tenant)
    cross join lateral (select coalesce(to_jsonb(array(select s from unnest(p.permissions) s order by s)), '[]') as permissions) x);
end $$;
