-- Records a health signal. It supersedes the one of the same scope and type.
create or replace function writ_data.put_signal(
  p_tenant text,
  p_type text,
  p_scope text,
  p_decision text,
  p_reason text,
  p_expires_at timestamptz,
  p_actor text,
  p_at timestamptz,
  p_constraints jsonb default null
) returns uuid
language plpgsql
as $$
declare
  v_id uuid := writ_data.uuidv7();
begin
  update writ_data.governance_signal
  set superseded_by = v_id, superseded_at = p_at
  where tenant_id = p_tenant and scope = p_scope and signal_type = p_type and superseded_at is null;
  insert into writ_data.governance_signal (
    signal_id, tenant_id, signal_type, scope, decision, reason, constraints, recorded_by,
    recorded_at, expires_at
  ) values (
    v_id, p_tenant, p_type, p_scope, p_decision, left(p_reason, 1000), p_constraints, p_actor, p_at,
    p_expires_at
  );

  perform writ_data.record(
    'fn_signal_record', p_actor, p_at, array[v_id], array['health.signal_recorded'], array[1],
    array[1],
    jsonb_build_object('scope', p_scope, 'signal_type', p_type, 'decision', p_decision)
  );
  return v_id;
end $$;
