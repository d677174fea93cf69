-- Adds a probe of a capability, changes it, or removes it (p_probe with "removed": true): {name, capability, type: http | sql | prometheus | heartbeat | reported, config, every_ms, timeout_ms}. A capability with a probe is monitored. Answers {name}.
-- Callers: writ_principal, writ_server
create or replace function writ.fn_probe_put(p_key text, p_probe jsonb, p_tenant_id text default 'default') returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := writ.now(); m record; v_who text;
begin
  m := writ_data.may(p_key, 'operate', p_tenant_id);
  if m.refusal is not null then
    return m.refusal;
  end if;
  v_who := (m.who).principal_id;
  if (p_probe ->> 'removed')::boolean then
    delete from writ_data.probe where tenant_id = p_tenant_id and name = p_probe ->> 'name';
  else
    insert into writ_data.probe (tenant_id, name, capability, type, config, every_ms, timeout_ms, put_by, put_at)
    values (p_tenant_id, p_probe ->> 'name', p_probe ->> 'capability', p_probe ->> 'type', coalesce(p_probe -> 'config', '{}'), coalesce((p_probe ->> 'every_ms')::integer, 10000), coalesce((p_probe ->> 'timeout_ms')::integer, 2000), v_who, v_now)
    on conflict (tenant_id, name) do update set capability = excluded.capability, type = excluded.type, config = excluded.config, every_ms = excluded.every_ms, timeout_ms = excluded.timeout_ms, due_at = '-infinity', put_by = excluded.put_by, put_at = excluded.put_at;
    update writ_data.capability set monitored = true where tenant_id = p_tenant_id and capability_name = p_probe ->> 'capability' and not monitored;
  end if;
  perform writ_data.record('fn_probe_put', v_who, v_now, '{}', '{}', '{}', '{}', p_probe);
  return jsonb_build_object('name', p_probe ->> 'name');
exception when check_violation or not_null_violation or foreign_key_violation or data_exception then
  return writ_data.refusal('invalid_probe', sqlerrm);
end $$;
