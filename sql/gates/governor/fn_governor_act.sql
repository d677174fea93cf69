-- Somebody asks a governor for an action of its policy. It is checked like any other. p_id: of the action, so that a call that was not answered can be repeated within a day. Answers {action_id}.
-- Callers: writ_principal, writ_server
create or replace function writ.fn_governor_act(p_key text, p_tenant text, p_sku text, p_id uuid, p_action_type text, p_parameters jsonb) returns jsonb
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
  end if;
  if p_id is null or p_action_type is null or p_action_type !~ '^[a-z][a-z0-9_.:-]{0,99}$' or jsonb_typeof(coalesce(p_parameters, '{}')) <> 'object' or octet_length(p_parameters::text) > 8192 then
    return writ_data.refusal('invalid_action', 'An id, a type of up to 100 of a-z 0-9 _ . : -, and parameters of up to 8 KB.');
  end if;
  perform from writ_data.governor_inbox b where b.governor_id = g.governor_id for no key update;
  if not exists (select from writ_data.governor_mail x where x.governor_id = g.governor_id and x.at > v_now - interval '25 hours' and x.content ->> 'kind' = 'act' and x.content ->> 'action_id' = p_id::text) then
    perform writ_data.put_mail(array[g.governor_id], array[jsonb_build_object('kind', 'act', 'action_id', p_id, 'action_type', p_action_type, 'parameters', coalesce(p_parameters, '{}'), 'initiated_by', (m.who).principal_id)], v_now);
  end if;
  return jsonb_build_object('action_id', p_id);
end $$;
