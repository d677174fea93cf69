-- Tells a governor that a person has looked at a cause that only a person can clear.
-- Callers: writ_principal, writ_server
-- Answers: {governor_id, cause}. The acknowledgement leaves a receipt.
-- Refuses: governor_not_found, person_required, reason_required, cause_not_found; as writ_data.may.
-- Locks:   the mailbox of the governor.
create or replace function writ.fn_governor_ack(
  p_key text,
  p_tenant text,
  p_sku text,
  p_cause text,
  p_reason text
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  v_governor writ_data.governor := writ_data.governor_of(p_tenant, p_sku);
  v_may record;
begin
  if v_governor.governor_id is null then
    return writ_data.refusal('governor_not_found', left(p_tenant, 200));
  end if;
  v_may := writ_data.may(p_key, 'operate', p_tenant);
  if v_may.refusal is not null then
    return v_may.refusal;
  elsif (v_may.who).kind <> 'person' then
    return writ_data.deny(v_may.who, 'operate', p_tenant, 'person_required',
      format('%s is no person.', (v_may.who).principal_id), v_now);
  elsif length(btrim(coalesce(p_reason, ''))) < 10 then
    return writ_data.refusal('reason_required', 'at least ten characters');
  elsif not coalesce(v_governor.data -> 'causes' ? p_cause, false) then
    return writ_data.refusal('cause_not_found', concat_ws(', ', left(p_cause, 100), 'what stands: '
      || (select coalesce(string_agg(c, ', '), 'nothing')
        from jsonb_array_elements_text(coalesce(v_governor.data -> 'causes', '[]')) c)));
  end if;

  perform writ_data.on_control_changed(p_tenant, 'governor_cause', concat(p_sku, ' ', p_cause),
    to_jsonb(p_cause), null, (v_may.who).principal_id, v_now);
  perform writ_data.put_mail(array[v_governor.governor_id], array[jsonb_build_object(
    'kind', 'operator_ack', 'cause', p_cause, 'by', (v_may.who).principal_id,
    'reason', left(p_reason, 1000))], v_now);
  return jsonb_build_object('governor_id', v_governor.governor_id, 'cause', p_cause);
end $$;
