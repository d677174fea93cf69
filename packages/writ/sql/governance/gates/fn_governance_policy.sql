-- Reads the governance policy of a tenant that is in force, or an earlier version.
-- Callers: writ_principal, processes, readers
-- Answers: {version, document, published_by, published_at}. Version 0 is the built-in policy.
-- Refuses: TENANT_ACCESS_DENIED, policy_not_found.
create or replace function writ.fn_governance_policy(
  p_tenant_id text default 'default',
  p_version integer default null
) returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
  select case
    when not writ_data.visible(p_tenant_id)
      then writ_data.refusal('TENANT_ACCESS_DENIED', p_tenant_id)
    else coalesce(
      (
        select jsonb_build_object(
          'version', p.version, 'document', p.document, 'published_by', p.published_by,
          'published_at', p.published_at
        )
        from writ_data.governance_policy p
        where p.tenant_id = p_tenant_id and p.version = coalesce(p_version, p.version)
        order by p.version desc
        limit 1
      ),
      case when coalesce(p_version, 0) = 0 then jsonb_build_object(
        'version', 0, 'document', writ_data.built_in_policy(), 'published_by', null,
        'published_at', null
      ) end,
      writ_data.refusal('policy_not_found', format('Version %s of %s.', p_version, p_tenant_id))
    )
  end;
end;
