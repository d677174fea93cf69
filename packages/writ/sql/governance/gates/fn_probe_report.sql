-- Stores a report for a probe of type heartbeat or reported. The database stamps the time.
-- Callers: writ_principal, writ_server
-- p_report: {name, status: HEALTHY | DEGRADED | UNHEALTHY, detail}.
-- Answers: {name, status}.
-- Refuses: probe_not_found, invalid_probe, and what may() refuses (right: report). Only
--          workers report for a probe that workers query (fn_probes_report).
create or replace function writ.fn_probe_report(
  p_key text,
  p_report jsonb,
  p_tenant_id text default 'default'
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  m record;
  v_before writ_data.probe;
  v_status text := p_report ->> 'status';
begin
  m := writ_data.may(p_key, 'report', p_tenant_id);
  if m.refusal is not null then
    return m.refusal;
  end if;
  select * into v_before
  from writ_data.probe
  where tenant_id = p_tenant_id and name = p_report ->> 'name'
  for no key update;
  if not found then
    return writ_data.refusal('probe_not_found', left(p_report ->> 'name', 200));
  elsif v_before.type not in ('heartbeat', 'reported') then
    return writ_data.refusal('invalid_probe', format(
      '%s is asked by workers (%s); nobody answers for it.', v_before.name, v_before.type
    ));
  elsif coalesce(v_status, '') not in ('HEALTHY', 'DEGRADED', 'UNHEALTHY') then
    return writ_data.refusal('invalid_probe', 'A probe says HEALTHY, DEGRADED or UNHEALTHY.');
  end if;

  update writ_data.probe
  set status = v_status, detail = left(p_report ->> 'detail', 500),
    checked_at = v_now
  where tenant_id = p_tenant_id and name = v_before.name;
  if v_status is distinct from v_before.status then
    perform writ_data.record(
      'fn_probe_report', (m.who).principal_id, v_now, '{}', '{}', '{}', '{}',
      jsonb_build_object('changed', jsonb_build_array(format('%s %s', v_before.name, v_status)))
    );
  end if;
  return jsonb_build_object('name', v_before.name, 'status', v_status);
end $$;
