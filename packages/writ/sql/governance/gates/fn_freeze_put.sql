-- Freezes a tenant, or lifts a freeze. While a freeze lasts, a contract is activated only if a
-- person breaks the glass.
-- Callers: writ_principal, writ_server
-- p_freeze: {reason, begins_at, ends_at}, or {freeze_id} to lift it.
-- Answers: {freeze_id}. Each change leaves a receipt with its principal and login.
-- Refuses: freeze_not_found, invalid_argument, and what may() refuses (right: operate).
create or replace function writ.fn_freeze_put(
  p_key text,
  p_freeze jsonb,
  p_tenant_id text default 'default'
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  m record;
  v_who text;
  v_freeze writ_data.freeze;
  v_before jsonb;
begin
  m := writ_data.may(p_key, 'operate', p_tenant_id);
  if m.refusal is not null then
    return m.refusal;
  elsif octet_length(p_freeze::text) > 16384 then
    return writ_data.refusal('invalid_argument', 'A freeze has 16 KB at most.');
  end if;
  v_who := (m.who).principal_id;

  if p_freeze ->> 'freeze_id' is null then
    insert into writ_data.freeze (freeze_id, tenant_id, reason, begins_at, ends_at, put_by)
    values (
      writ_data.uuidv7(), p_tenant_id, left(p_freeze ->> 'reason', 1000),
      coalesce(writ_data.moment(p_freeze ->> 'begins_at'), v_now),
      coalesce(writ_data.moment(p_freeze ->> 'ends_at'), 'infinity'), v_who
    )
    returning * into v_freeze;
  else
    select to_jsonb(f) into v_before
    from writ_data.freeze f
    where f.freeze_id = (p_freeze ->> 'freeze_id')::uuid and f.tenant_id = p_tenant_id
      and f.lifted_at is null
    for no key update;
    if not found then
      return writ_data.refusal('freeze_not_found', p_freeze ->> 'freeze_id');
    end if;
    update writ_data.freeze
    set lifted_at = v_now, lifted_by = v_who
    where freeze_id = (p_freeze ->> 'freeze_id')::uuid
    returning * into v_freeze;
  end if;

  perform writ_data.on_control_changed(
    p_tenant_id, 'freeze', v_freeze.freeze_id::text, v_before, to_jsonb(v_freeze), v_who, v_now
  );
  perform writ_data.record('fn_freeze_put', v_who, v_now, '{}', '{}', '{}', '{}', p_freeze);
  return jsonb_build_object('freeze_id', v_freeze.freeze_id);
exception when check_violation or not_null_violation or data_exception then
  return writ_data.refusal('invalid_argument', sqlerrm);
end $$;
