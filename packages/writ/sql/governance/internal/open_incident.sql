-- Opens an incident: a row, and a fact in the record.
create or replace function writ_data.open_incident(
  p_tenant text,
  p_capability text,
  p_severity text,
  p_subject text,
  p_summary text,
  p_actor text,
  p_at timestamptz
) returns uuid
language plpgsql
as $$
declare
  v_id uuid := writ_data.uuidv7();
begin
  insert into writ_data.incident (
    incident_id, tenant_id, capability, severity, subject, summary, opened_by, opened_at
  ) values (
    v_id, p_tenant, p_capability, p_severity, p_subject, left(p_summary, 1000), p_actor, p_at
  );

  perform writ_data.record(
    'fn_incident_open', p_actor, p_at, array[v_id], array['health.incident_opened'], array[1],
    array[1],
    jsonb_build_object('capability', p_capability, 'severity', p_severity, 'subject', p_subject)
  );
  return v_id;
end $$;
