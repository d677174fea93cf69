-- Why health does not allow a step on a target: null, or a sentence. The capability is unhealthy
-- (of a configuration scope: its owner), a signal BLOCKED stands about the target itself, or the
-- system as a whole is unhealthy. Answers of the capability's probes that are older than p_max_age
-- do not count.
create or replace function writ_data.health_block(
  p_tenant text,
  p_target text,
  p_max_age interval
) returns text
language plpgsql stable
as $$
declare
  v_capability text := coalesce(
    (
      select o.owner_capability from writ_data.configuration_scope o
      where o.tenant_id = p_tenant and o.scope = p_target
    ),
    p_target
  );
  h record;
  v_blocked text := (
    select g.reason from writ_data.governance_signal g
    where g.tenant_id = p_tenant and g.scope = p_target and g.superseded_at is null
      and g.decision = 'BLOCKED' and coalesce(g.expires_at > writ.now(), true)
    limit 1
  );
begin
  select * into h from writ_data.health_of(p_tenant, v_capability, p_max_age);
  if h.status = 'UNHEALTHY' then
    return format('%s is unhealthy: %s', v_capability, h.why);
  elsif v_blocked is not null then
    return format('%s is blocked: %s', p_target, v_blocked);
  elsif h.status is not null and not exists (
    select from writ_data.probe p where p.tenant_id = p_tenant and p.capability = v_capability
  ) then
    -- Without probes its health has no age, so the system has one that is not unhealthy.
    return null;
  elsif exists (select from writ_data.capability c where c.tenant_id = p_tenant)
    and not exists (select from writ_data.health_of(p_tenant) x where x.status <> 'UNHEALTHY')
  then
    return 'The system is unhealthy.';
  end if;
  return null;
end $$;
