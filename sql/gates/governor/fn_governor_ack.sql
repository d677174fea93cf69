-- A person has looked at what only a person can clear, and says why it is over. Answers {mail_seq}.
-- Callers: writ_principal, writ_server
create or replace function writ.fn_governor_ack(p_key text, p_tenant text, p_sku text, p_cause text, p_reason text) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := writ.now(); m record; g writ_data.governor := writ_data.governor_of(p_tenant, p_sku);
begin
  if g.governor_id is null then
    return writ_data.refusal('governor_not_found', p_tenant);
  end if;
  m := writ_data.may(p_key, 'operate', p_tenant);
  if m.refusal is not null then
    return m.refusal;
  elsif (m.who).kind <> 'person' then
    return writ_data.deny(m.who, 'operate', p_tenant, 'person_required', format('%s is no person.', (m.who).principal_id), v_now);
  elsif length(btrim(coalesce(p_reason, ''))) < 10 then
    return writ_data.refusal('reason_required', 'at least ten characters');
  elsif not coalesce(g.data -> 'causes' ? p_cause, false) then
    return writ_data.refusal('cause_not_found', concat_ws(', ', p_cause, 'what stands: ' || (select coalesce(string_agg(c, ', '), 'nothing') from jsonb_array_elements_text(coalesce(g.data -> 'causes', '[]')) c)));
  end if;
  perform writ_data.put_mail(array[g.governor_id], array[jsonb_build_object('kind', 'operator_ack', 'cause', p_cause, 'by', (m.who).principal_id, 'reason', left(p_reason, 1000))], v_now);
  return jsonb_build_object('governor_id', g.governor_id, 'cause', p_cause);
end $$;
