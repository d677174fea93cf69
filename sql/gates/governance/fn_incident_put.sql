-- Opens an incident ({capability, severity, summary}) or resolves one ({incident_id, resolution}). An open incident makes its capability DEGRADED. Answers {incident_id}.
-- Callers: writ_principal, writ_server
create or replace function writ.fn_incident_put(p_key text, p_incident jsonb, p_tenant_id text default 'default') returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := writ.now(); m record; v_id uuid := (p_incident ->> 'incident_id')::uuid; v_subject text;
begin
  m := writ_data.may(p_key, 'operate', p_tenant_id);
  if m.refusal is not null then
    return m.refusal;
  elsif v_id is null then
    return jsonb_build_object('incident_id', writ_data.open_incident(p_tenant_id, p_incident ->> 'capability', coalesce(p_incident ->> 'severity', 'P2'), coalesce('capability/' || (p_incident ->> 'capability'), 'tenant/' || p_tenant_id), p_incident ->> 'summary', (m.who).principal_id, v_now));
  elsif length(coalesce(btrim(p_incident ->> 'resolution'), '')) <= 10 then
    return writ_data.refusal('reason_required', 'How it was resolved, in more than ten characters.');
  end if;
  update writ_data.incident set resolved_by = (m.who).principal_id, resolved_at = v_now, resolution = left(btrim(p_incident ->> 'resolution'), 4000) where incident_id = v_id and tenant_id = p_tenant_id and resolved_at is null returning subject into v_subject;
  if not found then
    return writ_data.refusal('incident_not_found', v_id::text);
  end if;
  if v_subject like 'governance_job/%' then
    -- A rollback that failed is in order again: somebody has put it right, and what it held is free.
    delete from writ_data.target_hold h using writ_data.governance_job g where g.job_id = substr(v_subject, 16)::uuid and h.contract_id = g.contract_id and g.status = 'ROLLBACK_FAILED';
    perform writ_data.clear_alert('ROLLBACK_FAILED', v_subject, (m.who).principal_id, v_now);
  end if;
  perform writ_data.record('fn_incident_put', (m.who).principal_id, v_now, array[v_id], array['health.incident_resolved'], array[1], array[1]);
  return jsonb_build_object('incident_id', v_id);
exception when check_violation or not_null_violation or data_exception then
  return writ_data.refusal('invalid_argument', sqlerrm);
end $$;
