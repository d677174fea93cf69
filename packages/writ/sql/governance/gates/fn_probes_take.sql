-- Gives probes to a process that queries them: those that are due, or all probes of the targets
-- that a step or an audit relies on.
-- Callers: writ_applier, writ_engine
-- p_limit: how many due probes to take, at most 100. Tenants take turns: the gate gives out every
--          tenant's first probe before any tenant's second. p_without: tenants to skip, because the
--          process is busy with their probes.
-- p_targets: capabilities and configuration scopes of p_tenant_id, instead of due probes.
-- Answers: {probes: [{tenant, name, capability, type, config, timeout_ms, status, detail, at}],
--          next_ms}.
-- Refuses: invalid_argument (more than 10,000 targets or tenants), TENANT_ACCESS_DENIED.
-- Locks:   probes that are due, skipping those that another session holds.
create or replace function writ.fn_probes_take(
  p_limit integer,
  p_tenant_id text default null,
  p_targets text[] default null,
  p_without text[] default '{}'
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan -- planning costs more than running
as $$
declare
  v_now timestamptz := writ.now();
  v_tenant text := writ_data.caller_tenant();
  v_limit integer := least(greatest(coalesce(p_limit, 0), 0), 100);
  v_taken text[];        -- names, with the tenants beside them
  v_tenants text[];
  v_probes jsonb;
begin
  if cardinality(p_targets) > 10000 or cardinality(p_without) > 10000 then
    return writ_data.refusal(
      'invalid_argument', 'A call names at most 10,000 targets and 10,000 tenants.'
    );
  elsif p_targets is not null then
    if coalesce(v_tenant, p_tenant_id) is distinct from p_tenant_id then
      return writ_data.refusal('TENANT_ACCESS_DENIED', p_tenant_id);
    end if;
    select array_agg(p.tenant_id), array_agg(p.name)
    into v_tenants, v_taken
    from writ_data.probe p
    where p.tenant_id = p_tenant_id and p.capability = any (p_targets || array(
      select o.owner_capability from writ_data.configuration_scope o
      where o.tenant_id = p_tenant_id and o.scope = any (p_targets)
    ));
  else
    with fair as (
      select
        p.tenant_id, p.name, p.due_at,
        row_number() over (partition by p.tenant_id order by p.due_at, p.name) as place
      from writ_data.probe p
      -- One that is due later than after two intervals was asked while the clock was ahead.
      where p.type in ('http', 'sql', 'prometheus') and (
          p.due_at <= v_now or p.due_at > v_now + p.every_ms * interval '2 milliseconds'
        )
        and coalesce(v_tenant, p.tenant_id) = p.tenant_id
        and p.tenant_id <> all (coalesce(p_without, '{}'))
    ), chosen as materialized (
      select p.tenant_id, p.name
      from writ_data.probe p
      join (select * from fair f order by f.place, f.due_at limit v_limit) f
        on f.tenant_id = p.tenant_id and f.name = p.name
      where p.due_at <= v_now or p.due_at > v_now + p.every_ms * interval '2 milliseconds'
      for no key update of p skip locked
    ), taken as (
      update writ_data.probe p
      set due_at = v_now + p.every_ms * interval '1 millisecond'
      from chosen c
      where p.tenant_id = c.tenant_id and p.name = c.name
      returning p.tenant_id, p.name
    )
    select array_agg(t.tenant_id), array_agg(t.name) into v_tenants, v_taken from taken t;
  end if;

  if v_taken is not null then
    -- Only a login that took a probe may report its answer (fn_probes_report).
    insert into writ_data.probe_asked (tenant_id, name, login, asked_at)
    select u.tenant_id, u.name, session_user, v_now
    from unnest(v_tenants, v_taken) u(tenant_id, name)
    join writ_data.probe p on p.tenant_id = u.tenant_id and p.name = u.name
    where p.type in ('http', 'sql', 'prometheus')
    order by 1, 2
    on conflict (tenant_id, name, login) do update
    set asked_at = excluded.asked_at;

    select jsonb_agg(jsonb_build_object(
      'tenant', p.tenant_id, 'name', p.name, 'capability', p.capability, 'type', p.type,
      'config', p.config, 'timeout_ms', p.timeout_ms, 'status', p.status, 'detail', p.detail,
      'at', p.checked_at
    ) order by p.tenant_id, p.name)
    into v_probes
    from unnest(v_tenants, v_taken) u(tenant_id, name)
    join writ_data.probe p on p.tenant_id = u.tenant_id and p.name = u.name;
  end if;

  return jsonb_strip_nulls(jsonb_build_object(
    'probes', coalesce(v_probes, '[]'),
    'next_ms', case when p_targets is null then (
      select ceil(extract(epoch from greatest(min(p.due_at), v_now) - v_now) * 1000)
      from writ_data.probe p
      where p.type in ('http', 'sql', 'prometheus')
        and coalesce(v_tenant, p.tenant_id) = p.tenant_id
        and p.tenant_id <> all (coalesce(p_without, '{}'))
      having count(*) > 0
    ) end
  ));
end $$;
