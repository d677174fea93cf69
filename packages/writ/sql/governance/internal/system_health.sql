-- Returns the health of a tenant's system. A domain is UNHEALTHY if all of its capabilities are,
-- DEGRADED if any is not healthy; the system likewise over its domains.
create or replace function writ_data.system_health(p_tenant text) returns text
language sql stable
begin atomic
  select case
    when bool_and(d.status = 'UNHEALTHY') then 'UNHEALTHY'
    when bool_or(d.status <> 'HEALTHY') then 'DEGRADED'
    else 'HEALTHY'
  end
  from (
    select case
      when bool_and(h.status = 'UNHEALTHY') then 'UNHEALTHY'
      when bool_or(h.status <> 'HEALTHY') then 'DEGRADED'
      else 'HEALTHY'
    end as status
    from writ_data.health_of(p_tenant) h
    group by h.domain
  ) d;
end;
