-- Probes that are due to be asked, at most p_limit, for whoever asks them now; or, with p_capabilities, all of these capabilities of a tenant, because a step relies on them. Answers {probes: [{tenant, name, capability, type, config, timeout_ms, status, detail, at}], next_ms}.
-- Callers: writ_applier, writ_engine
create or replace function writ.fn_probes_take(p_limit integer, p_tenant_id text default null, p_capabilities text[] default null) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := writ.now(); v_probes jsonb;
begin
  if p_capabilities is not null then
    return jsonb_build_object('probes', writ_data.probes_of(p_tenant_id, p_capabilities));
  end if;
  with due as materialized (
    select p.tenant_id, p.name from writ_data.probe p where p.type in ('http', 'sql', 'prometheus') and p.due_at <= v_now order by p.due_at limit p_limit for no key update skip locked
  ), taken as (
    update writ_data.probe p set due_at = v_now + p.every_ms * interval '1 millisecond' from due d where p.tenant_id = d.tenant_id and p.name = d.name returning p.*
  )
  select jsonb_agg(jsonb_build_object('tenant', t.tenant_id, 'name', t.name, 'capability', t.capability, 'type', t.type, 'config', t.config, 'timeout_ms', t.timeout_ms)) into v_probes from taken t;
  return jsonb_strip_nulls(jsonb_build_object('probes', coalesce(v_probes, '[]'), 'next_ms', (select ceil(extract(epoch from greatest(min(p.due_at), v_now) - v_now) * 1000) from writ_data.probe p where p.type in ('http', 'sql', 'prometheus'))));
end $$;
