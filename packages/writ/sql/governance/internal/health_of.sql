-- The health of every capability of a tenant, and why. UNHEALTHY: it is disqualified, a signal
-- BLOCKED stands, a probe says so, or a probe of a monitored capability has not answered, or not
-- recently. DEGRADED: a signal WARN or an incident stands, or a probe says so. Only stored answers
-- count, at the time that the gate stamped on them.
-- p_only: one capability. p_max_age: no older answer counts; without it an answer counts for three
-- times the probe's interval. An answer from as long after now was given while the clock was ahead,
-- and does not count either. p_since: for probes that workers query, only later answers count.
create or replace function writ_data.health_of(
  p_tenant text,
  p_only text default null,
  p_max_age interval default null,
  p_since timestamptz default null
) returns table (capability text, domain text, status text, why text, monitored boolean)
language sql stable
begin atomic
  select
    c.capability_name,
    c.domain,
    case
      when c.disqualified is not null or s.blocked is not null or p.worst = 0
        or c.monitored and p.worst is null and s.reported is null then 'UNHEALTHY'
      when s.warned is not null or i.summary is not null or p.worst = 1 then 'DEGRADED'
      else 'HEALTHY'
    end,
    case
      when c.disqualified is not null then 'disqualified: ' || c.disqualified
      when s.blocked is not null then 'blocked: ' || s.blocked
      when p.worst = 0 then p.why
      when c.monitored and p.worst is null and s.reported is null then 'no probe has answered'
      when s.warned is not null then 'warned: ' || s.warned
      when i.summary is not null then 'incident: ' || i.summary
      when p.worst = 1 then p.why
      when not c.monitored then 'unmonitored'
    end,
    c.monitored
  -- Two branches, so that a single capability is found by index.
  from (
    select a.* from writ_data.capability a where p_only is null and a.tenant_id = p_tenant
    union all
    select a.* from writ_data.capability a
    where a.tenant_id = p_tenant and a.capability_name = p_only
  ) c
  left join lateral (
    select
      (array_agg(g.reason order by g.recorded_at desc)
        filter (where g.decision = 'BLOCKED'))[1] as blocked,
      (array_agg(g.reason order by g.recorded_at desc)
        filter (where g.decision = 'WARN'))[1] as warned,
      bool_or(g.decision = 'CLEAN') as reported
    from writ_data.governance_signal g
    where g.tenant_id = p_tenant and g.scope = c.capability_name and g.superseded_at is null
      and coalesce(g.expires_at > writ.now(), true)
    having count(*) > 0
  ) s on true
  left join lateral (
    select n.summary from writ_data.incident n
    where n.tenant_id = p_tenant and n.capability = c.capability_name and n.resolved_at is null
    order by n.opened_at limit 1
  ) i on true
  left join lateral (
    select
      min(y.rank) as worst,
      (array_agg(format('probe %s: %s', y.name, y.detail) order by y.rank, y.name))[1] as why
    from (
      select
        x.name,
        case
          when x.checked_at is null or z.stale then 0
          when x.status = 'HEALTHY' then 2
          when x.status = 'DEGRADED' then 1
          else 0
        end as rank,
        case
          when x.checked_at is null then 'has not answered'
          when z.stale then 'has not answered lately'
          else coalesce(x.detail, lower(x.status))
        end as detail
      from writ_data.probe x
      cross join lateral (
        select coalesce(
          p_max_age, (x.every_ms * 3 + x.timeout_ms::bigint) * interval '1 millisecond'
        ) as max_age
      ) a
      cross join lateral (
        select
          x.checked_at not between writ.now() - a.max_age and writ.now() + a.max_age
          or x.type in ('http', 'sql', 'prometheus') and x.checked_at < p_since as stale
      ) z
      where x.tenant_id = p_tenant and x.capability = c.capability_name
    ) y
  ) p on true;
end;
