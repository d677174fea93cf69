-- Reads which actions principals may request from governors of a tenant.
-- Callers: writ_applier, writ_engine
-- Answers: [{principal, permissions, hash}], in order; a principal that is unknown there or
--          disabled may do nothing. hash: of the rows behind the answer.
-- Refuses: TENANT_ACCESS_DENIED, invalid_argument.
create or replace function writ.fn_permissions(
  p_tenant text,
  p_principals text[]
) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_tenant is null or not writ_data.visible(p_tenant) then
    return writ_data.refusal('TENANT_ACCESS_DENIED', p_tenant);
  elsif cardinality(p_principals) > 1000 then
    return writ_data.refusal('invalid_argument', 'at most 1000 principals');
  end if;

  return (
    select coalesce(jsonb_agg(jsonb_build_object(
      'principal', u.id, 'permissions', x.permissions,
      'hash', encode(sha256(convert_to(jsonb_build_object(
        'principal', u.id, 'permissions', x.permissions)::text, 'UTF8')), 'hex')) order by u.n),
      '[]')
    from unnest(p_principals) with ordinality u(id, n)
    left join writ_data.principal p on p.principal_id = u.id and p.disabled_at is null
      and coalesce(p.tenant_id, p_tenant) = p_tenant
    cross join lateral (
      select coalesce(to_jsonb(array(select s from unnest(p.permissions) s order by s)), '[]')
        as permissions
    ) x);
end $$;
