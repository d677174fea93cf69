-- Why health does not allow a step on a target: null, or a sentence. The system as a whole is unhealthy, or the capability is, or that which owns the configuration. p_evidence is what the probes of the capability have said just now; older answers do not count.
create or replace function writ_data.health_block(p_tenant text, p_target text, p_evidence jsonb, p_max_age interval) returns text language plpgsql stable as $$
declare
  v_capability text := coalesce((select o.owner_capability from writ_data.configuration_scope o where o.tenant_id = p_tenant and o.scope = p_target), p_target); h record;
begin
  select * into h from writ_data.health_of(p_tenant, p_evidence, p_max_age, v_capability);
  if h.status = 'UNHEALTHY' then
    return format('%s is unhealthy: %s', v_capability, h.why);
  elsif h.status is not null and not exists (select from writ_data.probe p where p.tenant_id = p_tenant and p.capability = v_capability) then
    return null; -- what it is does not depend on when somebody was asked, so it is one that is not unhealthy
  elsif exists (select from writ_data.capability c where c.tenant_id = p_tenant) and not exists (select from writ_data.health_of(p_tenant, p_evidence) x where x.status <> 'UNHEALTHY') then
    return 'The system is unhealthy.';
  end if;
  return null;
end $$;
