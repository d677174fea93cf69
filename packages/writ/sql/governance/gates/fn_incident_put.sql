-- Opens an incident, which makes its capability DEGRADED, or resolves one.
-- Callers: writ_principal, writ_server
-- p_incident: {capability, severity, summary}, or {incident_id, resolution}. Resolving the incident
--          of a failed rollback frees what that rollback holds.
-- Answers: {incident_id}. Each change leaves a receipt with its principal and login.
-- Refuses: reason_required, incident_not_found, invalid_argument, own_contract (whoever broke the
--          glass, or acts for them, does not resolve the incident that this opened), and what may()
--          refuses (right: operate).
create or replace function writ.fn_incident_put(
  p_key text,
  p_incident jsonb,
  p_tenant_id text default 'default'
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  m record;
  v_who text;
  v_id uuid;
  v_before jsonb;
  v_incident writ_data.incident;
begin
  m := writ_data.may(p_key, 'operate', p_tenant_id);
  if m.refusal is not null then
    return m.refusal;
  elsif octet_length(p_incident::text) > 16384 then
    return writ_data.refusal('invalid_argument', 'An incident has 16 KB at most.');
  end if;
  v_who := (m.who).principal_id;
  v_id := (p_incident ->> 'incident_id')::uuid;

  if v_id is null then
    v_id := writ_data.open_incident(
      p_tenant_id, p_incident ->> 'capability', coalesce(p_incident ->> 'severity', 'P2'),
      coalesce('capability/' || (p_incident ->> 'capability'), 'tenant/' || p_tenant_id),
      p_incident ->> 'summary', v_who, v_now
    );
    select * into v_incident from writ_data.incident where incident_id = v_id;
  else
    if length(coalesce(btrim(p_incident ->> 'resolution'), '')) <= 10 then
      return writ_data.refusal(
        'reason_required', 'How it was resolved, in more than ten characters.'
      );
    end if;
    select to_jsonb(i) into v_before
    from writ_data.incident i
    where i.incident_id = v_id and i.tenant_id = p_tenant_id and i.resolved_at is null
    for no key update;
    if not found then
      return writ_data.refusal('incident_not_found', v_id::text);
    elsif v_before ->> 'subject' like 'contract/%' and (
      (m.who).kind <> 'person' or v_before ->> 'opened_by' = any (writ_data.behind(v_who))
    ) then
      return writ_data.refusal(
        'own_contract', 'A second person resolves what a broken glass has opened.'
      );
    end if;
    update writ_data.incident
    set resolved_by = v_who, resolved_at = v_now,
      resolution = left(btrim(p_incident ->> 'resolution'), 4000)
    where incident_id = v_id
    returning * into v_incident;
    if v_incident.subject like 'governance_job/%' then
      -- An operator has fixed what the rollback could not, so release the rollback's holds.
      delete from writ_data.target_hold h
      using writ_data.governance_job g
      where g.job_id = substr(v_incident.subject, 16)::uuid
        and g.tenant_id = p_tenant_id
        and h.contract_id = g.contract_id and g.status = 'ROLLBACK_FAILED';
      perform writ_data.clear_alert('ROLLBACK_FAILED', v_incident.subject, v_who, v_now);
    end if;
    perform writ_data.record(
      'fn_incident_put', v_who, v_now, array[v_id], array['health.incident_resolved'], array[1],
      array[1]
    );
  end if;

  perform writ_data.on_control_changed(
    p_tenant_id, 'incident', v_incident.subject, v_before, to_jsonb(v_incident), v_who, v_now
  );
  return jsonb_build_object('incident_id', v_id);
exception when integrity_constraint_violation or data_exception then
  return writ_data.refusal('invalid_argument', sqlerrm);
end $$;
