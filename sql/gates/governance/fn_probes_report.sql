-- What a worker has found out by asking probes: [{tenant, name, status: HEALTHY | DEGRADED | UNHEALTHY, detail}]. It does so by its role in the database, as it does its work; for probes that wait to be told this is nobody's word (fn_probe_report). Answers {reported}.
-- Callers: writ_applier, writ_engine
create or replace function writ.fn_probes_report(p_reports jsonb, p_actor text) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := writ.now(); v_n integer; v_moved text[];
begin
  with said as materialized (
    select coalesce(r.tenant, 'default') as tenant, r.name, r.status, left(r.detail, 500) as detail from jsonb_to_recordset(p_reports) r(tenant text, name text, status text, detail text) where writ_data.visible(coalesce(r.tenant, 'default'))
  ), before as materialized (
    select p.tenant_id, p.name, p.status from writ_data.probe p join said s on s.tenant = p.tenant_id and s.name = p.name
  ), put as (
    update writ_data.probe p set status = s.status, detail = s.detail, checked_at = v_now from said s where p.tenant_id = s.tenant and p.name = s.name and p.type in ('http', 'sql', 'prometheus') returning p.tenant_id, p.name, p.status
  )
  select count(*), array_agg(format('%s %s', t.name, t.status)) filter (where t.status is distinct from b.status) into v_n, v_moved from put t join before b on b.tenant_id = t.tenant_id and b.name = t.name;
  if v_moved is not null then
    perform writ_data.record('fn_probes_report', p_actor, v_now, '{}', '{}', '{}', '{}', jsonb_build_object('changed', to_jsonb(v_moved)));
  end if;
  return jsonb_build_object('reported', v_n);
exception when check_violation or data_exception then
  return writ_data.refusal('invalid_probe', sqlerrm);
end $$;
