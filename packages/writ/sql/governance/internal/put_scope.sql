-- Makes a configuration scope known with its first values, or gives it another owner. To change,
-- add or take away a value of an existing scope needs a contract: raises (WR001)
-- change_needs_a_contract. The owner of a scope that a contract holds stays: raises (WR001)
-- target_held. The caller has locked the scope.
-- Answers the scope as it is then, for the receipt; values are in it when the scope is new.
create or replace function writ_data.put_scope(
  p_tenant text,
  p_item jsonb,
  p_new boolean,
  p_who text,
  p_at timestamptz
) returns jsonb
language plpgsql
as $$
declare
  v_scope text := p_item ->> 'scope';
  v_values jsonb := (
    select coalesce(jsonb_object_agg(e.key, e.value), '{}')
    from jsonb_each(coalesce(nullif(p_item -> 'values', 'null'), '{}')) e
    where e.value <> 'null'
  );
  v_key text;
  v_owner text;
begin
  if p_new then
    insert into writ_data.configuration_scope (tenant_id, scope, owner_capability)
    values (p_tenant, v_scope, p_item ->> 'owner_capability')
    returning owner_capability into v_owner;
    insert into writ_data.configuration (
      tenant_id, scope, key, value, version, updated_by, updated_at
    )
    select
      p_tenant, v_scope, e.key, e.value, nextval('writ_data.target_version') + 1, p_who, p_at
    from jsonb_each(v_values) e;
    return jsonb_build_object('owner_capability', v_owner, 'values', v_values);
  end if;

  select e.key into v_key
  from jsonb_each(coalesce(nullif(p_item -> 'values', 'null'), '{}')) e
  left join writ_data.configuration c
    on c.tenant_id = p_tenant and c.scope = v_scope and c.key = e.key
  where coalesce(c.value, 'null') <> e.value
  order by e.key limit 1;
  if v_key is not null then
    raise exception using errcode = 'WR001', message = 'change_needs_a_contract',
      detail = format('%s#%s: the scope exists, and applications read it.', v_scope, v_key);
  end if;
  if p_item ->> 'owner_capability' <> (
    select o.owner_capability from writ_data.configuration_scope o
    where o.tenant_id = p_tenant and o.scope = v_scope
  ) and exists (
    select from writ_data.target_hold h where h.tenant_id = p_tenant and h.target = v_scope
  ) then
    raise exception using errcode = 'WR001', message = 'target_held',
      detail = format('%s: its owner decides whether the change may go on.', v_scope);
  end if;
  update writ_data.configuration_scope
  set owner_capability = coalesce(p_item ->> 'owner_capability', owner_capability)
  where tenant_id = p_tenant and scope = v_scope
  returning owner_capability into v_owner;
  return jsonb_build_object('owner_capability', v_owner);
end $$;
