-- Raises an alert, once while it stands: a row, and a fact in the record. Answers whether it is
-- new.
create or replace function writ_data.raise_alert(
  p_code text,
  p_severity text,
  p_tenant text,
  p_subject text,
  p_detail jsonb,
  p_actor text,
  p_at timestamptz
) returns boolean
language plpgsql
as $$
declare
  v_id uuid := writ_data.uuidv7();
begin
  insert into writ_data.alert (alert_id, code, severity, tenant_id, subject, detail, raised_at)
  values (v_id, p_code, p_severity, p_tenant, p_subject, p_detail, p_at)
  on conflict do nothing;
  if found then
    perform writ_data.record(
      'alert', p_actor, p_at, array[v_id], array['system.alert_raised'], array[1], array[1],
      jsonb_build_object('code', p_code, 'severity', p_severity, 'subject', p_subject)
    );
  end if;
  return found;
end $$;
