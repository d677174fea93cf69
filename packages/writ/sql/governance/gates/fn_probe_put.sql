-- Adds a probe of a capability, changes it, or removes it ({name, removed: true}).
-- Callers: writ_principal, writ_server
-- p_probe: {name, capability, type: http | sql | prometheus | heartbeat | reported, config,
--          every_ms, timeout_ms}. A capability with a probe is monitored. A SQL probe reads the
--          database, so only principals and logins without a tenant may put one.
-- Answers: {name}. Each change leaves a receipt with its principal and login.
-- Refuses: invalid_probe, not_authorized, target_held, and what may() refuses (right: operate). A
--          tenant has a thousand probes at most. While a contract holds the capability of a probe,
--          or a scope that it owns, the probe can neither be removed nor ask something else.
-- Locks:   the capability of the probe, against activations and steps that look at it; the probe.
create or replace function writ.fn_probe_put(
  p_key text,
  p_probe jsonb,
  p_tenant_id text default 'default'
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  m record;
  v_who text;
  v_name text := p_probe ->> 'name';
  v_before jsonb;
  v_after jsonb;
  v_held text;
begin
  m := writ_data.may(p_key, 'operate', p_tenant_id);
  if m.refusal is not null then
    return m.refusal;
  elsif jsonb_typeof(p_probe) is distinct from 'object' then
    return writ_data.refusal('invalid_probe', 'A probe is an object.');
  elsif p_probe ->> 'type' = 'sql'
    and ((m.who).tenant_id is not null or writ_data.caller_tenant() is not null)
  then
    return writ_data.deny(
      m.who, 'operate', p_tenant_id, 'not_authorized',
      'A SQL probe reads the whole database: it belongs to principals without a tenant.', v_now
    );
  elsif octet_length(p_probe::text) > 16384 then
    return writ_data.refusal('invalid_probe', 'A probe has 16 KB at most.');
  end if;
  v_who := (m.who).principal_id;

  perform from writ_data.capability c
  where c.tenant_id = p_tenant_id
    and c.capability_name = (
      select p.capability from writ_data.probe p
      where p.tenant_id = p_tenant_id and p.name = v_name
    )
  for update;
  select jsonb_build_object(
    'capability', p.capability, 'type', p.type, 'config', p.config, 'every_ms', p.every_ms,
    'timeout_ms', p.timeout_ms
  )
  into v_before
  from writ_data.probe p
  where p.tenant_id = p_tenant_id and p.name = v_name
  for no key update;
  if v_before is null and (
    select count(*) from writ_data.probe p where p.tenant_id = p_tenant_id
  ) >= 1000 then
    return writ_data.refusal('invalid_probe', 'A tenant has a thousand probes at most.');
  end if;

  if coalesce((p_probe ->> 'removed')::boolean, false)
    or (p_probe ->> 'capability', p_probe ->> 'type', coalesce(p_probe -> 'config', '{}'))
      is distinct from (v_before ->> 'capability', v_before ->> 'type', v_before -> 'config')
  then
    v_held := writ_data.held_target(p_tenant_id, v_before ->> 'capability');
    if v_held is not null then
      return writ_data.refusal('target_held', format(
        '%s: the probe %s decides whether the change may go on.', v_held, v_name
      ));
    end if;
  end if;

  if coalesce((p_probe ->> 'removed')::boolean, false) then
    delete from writ_data.probe where tenant_id = p_tenant_id and name = v_name;
  else
    insert into writ_data.probe as p (
      tenant_id, name, capability, type, config, every_ms, timeout_ms, put_by, put_at
    ) values (
      p_tenant_id, v_name, p_probe ->> 'capability', p_probe ->> 'type',
      coalesce(p_probe -> 'config', '{}'), coalesce((p_probe ->> 'every_ms')::integer, 10000),
      coalesce((p_probe ->> 'timeout_ms')::integer, 2000), v_who, v_now
    )
    -- A changed probe has no answer yet.
    on conflict (tenant_id, name) do update
    set capability = excluded.capability, type = excluded.type, config = excluded.config,
      every_ms = excluded.every_ms, timeout_ms = excluded.timeout_ms, due_at = '-infinity',
      put_by = excluded.put_by, put_at = excluded.put_at,
      status = case when (p.capability, p.type, p.config)
        = (excluded.capability, excluded.type, excluded.config) then p.status end,
      detail = case when (p.capability, p.type, p.config)
        = (excluded.capability, excluded.type, excluded.config) then p.detail end,
      checked_at = case when (p.capability, p.type, p.config)
        = (excluded.capability, excluded.type, excluded.config) then p.checked_at end
    returning jsonb_build_object(
      'capability', p.capability, 'type', p.type, 'config', p.config, 'every_ms', p.every_ms,
      'timeout_ms', p.timeout_ms
    ) into v_after;
    update writ_data.capability
    set monitored = true
    where tenant_id = p_tenant_id and capability_name = p_probe ->> 'capability'
      and not monitored;
  end if;

  if v_after is distinct from v_before then
    perform writ_data.on_control_changed(
      p_tenant_id, 'probe', v_name, v_before, v_after, v_who, v_now
    );
  end if;
  perform writ_data.record('fn_probe_put', v_who, v_now, '{}', '{}', '{}', '{}', p_probe);
  return jsonb_build_object('name', v_name);
exception when integrity_constraint_violation or data_exception then
  return writ_data.refusal('invalid_probe', sqlerrm);
end $$;
