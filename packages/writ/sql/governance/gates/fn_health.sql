-- Reads the health of a tenant.
-- Callers: writ_principal, processes, readers
-- Answers: {system, domains: {name: status}, capabilities: [{capability, domain, status, why,
--          monitored}]}.
-- Refuses: TENANT_ACCESS_DENIED.
create or replace function writ.fn_health(p_tenant_id text default 'default') returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
  select case
    when not writ_data.visible(p_tenant_id)
      then writ_data.refusal('TENANT_ACCESS_DENIED', p_tenant_id)
    else jsonb_build_object(
      'system', coalesce(writ_data.system_health(p_tenant_id), 'HEALTHY'),
      'domains', coalesce(
        (
          select jsonb_object_agg(d.domain, d.status)
          from (
            select
              h.domain,
              case
                when bool_and(h.status = 'UNHEALTHY') then 'UNHEALTHY'
                when bool_or(h.status <> 'HEALTHY') then 'DEGRADED'
                else 'HEALTHY'
              end as status
            from writ_data.health_of(p_tenant_id) h
            group by h.domain
          ) d
        ),
        '{}'
      ),
      'capabilities', coalesce(
        (
          select jsonb_agg(to_jsonb(h) order by h.domain, h.capability)
          from writ_data.health_of(p_tenant_id) h
        ),
        '[]'
      )
    )
  end;
end;
