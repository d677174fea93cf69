-- The health of the whole: of a domain, UNHEALTHY if all of its capabilities are, DEGRADED if any
-- is not healthy; of the system, the same over its domains. p_health is the answer of health_of.
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
