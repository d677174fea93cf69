-- Makes capabilities and configuration known, or says more about them: {capability_name, domain, lifecycle, monitored, frozen, disqualified} or {scope, owner_capability, values}. Lifecycle and values are for what is new: what exists is changed by contracts. Answers {put}.
-- Callers: writ_principal, writ_server
create or replace function writ.fn_capability_put(p_key text, p_items jsonb, p_tenant_id text default 'default') returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := writ.now(); m record; i jsonb; v_n integer := 0; v record; v_who text; v_detail text;
begin
  m := writ_data.may(p_key, 'operate', p_tenant_id);
  if m.refusal is not null then
    return m.refusal;
  end if;
  v_who := (m.who).principal_id;
  for i in select jsonb_array_elements(p_items) loop
    v_n := v_n + 1;
    if i ? 'scope' then
      insert into writ_data.configuration_scope (tenant_id, scope, owner_capability) values (p_tenant_id, i ->> 'scope', coalesce(i ->> 'owner_capability', (select o.owner_capability from writ_data.configuration_scope o where o.tenant_id = p_tenant_id and o.scope = i ->> 'scope')))
      on conflict (tenant_id, scope) do update set owner_capability = excluded.owner_capability where configuration_scope.owner_capability <> excluded.owner_capability;
      for v in select e.key, e.value from jsonb_each(coalesce(i -> 'values', '{}')) e where e.value <> 'null' loop
        insert into writ_data.configuration (tenant_id, scope, key, value, version, updated_by, updated_at) values (p_tenant_id, i ->> 'scope', v.key, v.value, nextval('writ_data.target_version') + 1, v_who, v_now) on conflict do nothing;
        if not found and (select c.value from writ_data.configuration c where c.tenant_id = p_tenant_id and c.scope = i ->> 'scope' and c.key = v.key) <> v.value then
          raise exception using errcode = 'WR001', message = 'change_needs_a_contract', detail = format('%s#%s has a value.', i ->> 'scope', v.key);
        end if;
      end loop;
    else
      if exists (select from writ_data.capability c where c.tenant_id = p_tenant_id and c.capability_name = i ->> 'capability_name' and c.lifecycle <> coalesce(i ->> 'lifecycle', c.lifecycle)) then
        raise exception using errcode = 'WR001', message = 'change_needs_a_contract', detail = i ->> 'capability_name';
      end if;
      insert into writ_data.capability (tenant_id, capability_name, domain, lifecycle, monitored, frozen, disqualified, updated_by, updated_at)
      values (p_tenant_id, i ->> 'capability_name', coalesce(i ->> 'domain', 'default'), coalesce(i ->> 'lifecycle', 'DISABLED'), coalesce((i ->> 'monitored')::boolean, false), i ->> 'frozen', i ->> 'disqualified', v_who, v_now)
      on conflict (tenant_id, capability_name) do update set domain = coalesce(i ->> 'domain', capability.domain), monitored = coalesce((i ->> 'monitored')::boolean, capability.monitored),
        frozen = case when i ? 'frozen' then i ->> 'frozen' else capability.frozen end, disqualified = case when i ? 'disqualified' then i ->> 'disqualified' else capability.disqualified end;
    end if;
  end loop;
  perform writ_data.tell_flags(p_tenant_id, t.target) from (select distinct coalesce(x ->> 'scope', x ->> 'capability_name') as target from jsonb_array_elements(p_items) x) t;
  perform writ_data.record('fn_capability_put', v_who, v_now, '{}', '{}', '{}', '{}', p_items);
  return jsonb_build_object('put', v_n);
exception when check_violation or not_null_violation or foreign_key_violation or data_exception then
  return writ_data.refusal('invalid_target', sqlerrm);
when sqlstate 'WR001' then
  get stacked diagnostics v_detail = pg_exception_detail;
  return writ_data.refusal(sqlerrm, v_detail);
end $$;
