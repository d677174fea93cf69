-- Stores the answers of probes that a process queried. The database stamps the time.
-- Callers: writ_applier, writ_engine
-- p_reports: up to 1000 of {tenant, name, status: HEALTHY | DEGRADED | UNHEALTHY, detail}. The gate
--          stores a report only for a probe that workers query and that fn_probes_take gave to this
--          login, until the probe's timeout and ten seconds have passed. It ignores other reports.
-- Answers: {reported, ignored}.
-- Refuses: invalid_probe, actor_required.
-- Locks:   the probes, in the order of their names.
create or replace function writ.fn_probes_report(p_reports jsonb, p_actor text) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  v_tenant text := writ_data.caller_tenant();
  v_reported integer;
  v_changed text[];
begin
  if jsonb_typeof(p_reports) is distinct from 'array' or jsonb_array_length(p_reports) > 1000 then
    return writ_data.refusal('invalid_probe', 'Reports are an array of a thousand at most.');
  elsif length(coalesce(btrim(p_actor), '')) not between 1 and 200 then
    return writ_data.refusal('actor_required', 'An actor has 1 to 200 characters.');
  end if;

  with report as materialized (
    select distinct on (r.tenant, r.name) r.*
    from (
      select
        coalesce(x ->> 'tenant', 'default') as tenant, x ->> 'name' as name,
        x ->> 'status' as status, left(x ->> 'detail', 500) as detail
      from jsonb_array_elements(p_reports) x
    ) r
    where r.status in ('HEALTHY', 'DEGRADED', 'UNHEALTHY')
      and coalesce(v_tenant, r.tenant) = r.tenant
  ), before as materialized (
    select p.tenant_id, p.name, p.status as was, r.status, r.detail
    from report r
    join writ_data.probe p on p.tenant_id = r.tenant and p.name = r.name
    join writ_data.probe_asked a
      on a.tenant_id = p.tenant_id and a.name = p.name and a.login = session_user
    where p.type in ('http', 'sql', 'prometheus')
      and (a.asked_at >= p.put_at or p.put_at > v_now) -- put while the clock was ahead
      and a.asked_at > v_now - (p.timeout_ms + 10000) * interval '1 millisecond'
    order by p.tenant_id, p.name
    for no key update of p
  ), put as (
    update writ_data.probe p
    set status = b.status, detail = b.detail, checked_at = v_now
    from before b
    where p.tenant_id = b.tenant_id and p.name = b.name
    returning p.name, p.status, b.was
  )
  select count(*), array_agg(format('%s %s', p.name, p.status))
    filter (where p.status is distinct from p.was)
  into v_reported, v_changed
  from put p;

  if v_changed is not null then
    perform writ_data.record(
      'fn_probes_report', p_actor, v_now, '{}', '{}', '{}', '{}',
      jsonb_build_object('changed', to_jsonb(v_changed))
    );
  end if;
  return jsonb_build_object(
    'reported', v_reported, 'ignored', jsonb_array_length(p_reports) - v_reported
  );
end $$;
