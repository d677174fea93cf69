-- Freezes a tenant: no contract is activated while it lasts, unless the glass is broken. {reason, begins_at, ends_at}; or lifts one: {freeze_id}. Answers {freeze_id}.
-- Callers: writ_principal, writ_server
create or replace function writ.fn_freeze_put(p_key text, p_freeze jsonb, p_tenant_id text default 'default') returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := writ.now(); m record; v_id uuid := (p_freeze ->> 'freeze_id')::uuid;
begin
  m := writ_data.may(p_key, 'operate', p_tenant_id);
  if m.refusal is not null then
    return m.refusal;
  elsif v_id is null then
    v_id := writ_data.uuidv7();
    insert into writ_data.freeze (freeze_id, tenant_id, reason, begins_at, ends_at, put_by) values (v_id, p_tenant_id, p_freeze ->> 'reason', coalesce((p_freeze ->> 'begins_at')::timestamptz, v_now), coalesce((p_freeze ->> 'ends_at')::timestamptz, 'infinity'), (m.who).principal_id);
  else
    update writ_data.freeze set lifted_at = v_now, lifted_by = (m.who).principal_id where freeze_id = v_id and tenant_id = p_tenant_id and lifted_at is null;
    if not found then
      return writ_data.refusal('freeze_not_found', v_id::text);
    end if;
  end if;
  perform writ_data.record('fn_freeze_put', (m.who).principal_id, v_now, '{}', '{}', '{}', '{}', p_freeze);
  return jsonb_build_object('freeze_id', v_id);
exception when check_violation or not_null_violation or data_exception then
  return writ_data.refusal('invalid_argument', sqlerrm);
end $$;
