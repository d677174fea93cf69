-- Requests an action of a governor's policy. The governor checks it like any other action.
-- Callers: writ_principal, writ_server
-- Answers: {action_id}. p_id: the action's id, which makes a repeated call safe for a day. The
--          record names the principal and the login.
-- Refuses: governor_not_found, invalid_action, mailbox_full; as writ_data.may does.
-- Locks:   the mailbox of the governor.
create or replace function writ.fn_governor_act(
  p_key text,
  p_tenant text,
  p_sku text,
  p_id uuid,
  p_action_type text,
  p_parameters jsonb
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  v_governor writ_data.governor := writ_data.governor_of(p_tenant, p_sku);
  v_may record;
  v_mails bigint;
begin
  if v_governor.governor_id is null then
    return writ_data.refusal('governor_not_found', left(p_tenant, 200));
  end if;
  v_may := writ_data.may(p_key, 'operate', p_tenant);
  if v_may.refusal is not null then
    return v_may.refusal;
  end if;
  if (p_id is not null and p_action_type ~ '^[a-z][a-z0-9_.:-]{0,99}$'
      and jsonb_typeof(coalesce(p_parameters, '{}')) = 'object'
      and octet_length(coalesce(p_parameters, '{}')::text) <= 8192) is not true
    or exists (
      select from jsonb_each(p_parameters) p
      where jsonb_typeof(p.value) not in ('string', 'number', 'boolean')
        or case jsonb_typeof(p.value) when 'number'
          then abs(p.value::numeric) > 9007199254740991 else false end) then
    return writ_data.refusal('invalid_action', 'An id, a type of up to 100 of a-z 0-9 _ . : -, '
      'and parameters of up to 8 KB: texts, numbers, true and false.');
  end if;

  select b.mails into v_mails
  from writ_data.governor_inbox b
  where b.governor_id = v_governor.governor_id
  for no key update;
  if exists (
    select from writ_data.governor_mail x
    where x.governor_id = v_governor.governor_id and x.at > v_now - interval '25 hours'
      and x.content ->> 'kind' = 'act' and x.content ->> 'action_id' = p_id::text
  ) then
    return jsonb_build_object('action_id', p_id);
  elsif jsonb_array_length(coalesce(v_governor.data -> 'queue', '[]')) >= 100
    or v_mails - v_governor.mail_done > 10000 then
    -- Every turn of the governor reads and writes all waiting requests, so their number is bounded.
    return writ_data.refusal('mailbox_full', p_sku);
  end if;
  perform writ_data.put_mail(array[v_governor.governor_id], array[jsonb_build_object(
    'kind', 'act', 'action_id', p_id, 'action_type', p_action_type,
    'parameters', coalesce(p_parameters, '{}'), 'initiated_by', (v_may.who).principal_id)], v_now);
  perform writ_data.record(
    'fn_governor_act', (v_may.who).principal_id, v_now, '{}', '{}', '{}', '{}',
    jsonb_build_object('governor_id', v_governor.governor_id, 'action_id', p_id,
      'action_type', p_action_type));
  return jsonb_build_object('action_id', p_id);
end $$;
