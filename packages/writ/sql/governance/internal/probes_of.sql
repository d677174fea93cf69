-- Returns the probes of these capabilities, and of those that own these configurations, by name,
-- for a caller that relies on them.
create or replace function writ_data.probes_of(p_tenant text, p_targets text[]) returns jsonb
language sql stable
begin atomic
  select coalesce(
    jsonb_agg(
      jsonb_build_object(
        'tenant', p.tenant_id,
        'name', p.name,
        'capability', p.capability,
        'type', p.type,
        'config', p.config,
        'timeout_ms', p.timeout_ms,
        'status', p.status,
        'detail', p.detail,
        'at', p.checked_at
      )
      order by p.name
    ),
    '[]'
  )
  from writ_data.probe p
  where p.tenant_id = p_tenant
    and p.capability = any (
      p_targets
        || array(
          select o.owner_capability
          from writ_data.configuration_scope o
          where o.tenant_id = p_tenant and o.scope = any (p_targets)
        )
    );
end;
