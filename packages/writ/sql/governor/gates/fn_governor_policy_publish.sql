-- Publishes the next version of a governor's policy, or withdraws the policy. The principal needs
-- the right to operate.
-- Callers: writ_principal, writ_server
-- Answers: {version, duplicate}. Publishing the current document again changes nothing. A change
--          leaves a receipt.
-- Refuses: governor_not_found, policy_not_found, policy_moved, action_without_inverse,
--          invalid_policy, value_not_canonical; as writ_data.may does.
-- Locks:   the mailbox of the governor.
--
-- p_newest is the newest version that the caller knows, 0 for none; null takes any.
-- p_document null withdraws the policy. p_hash is the SHA-256 of the document's canonical JSON, in
-- hexadecimal; a driver rejects a document that does not match it. The receipt has p_hash and the
-- SHA-256 of the stored document, which the gate computes.
create or replace function writ.fn_governor_policy_publish(
  p_key text,
  p_tenant text,
  p_sku text,
  p_policy_id text,
  p_document jsonb,
  p_hash text,
  p_shadow boolean,
  p_newest integer default null
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  v_governor writ_data.governor := writ_data.governor_of(p_tenant, p_sku);
  v_may record;
  v_last writ_data.governor_policy;
  v_version integer;
  v_lost text;                     -- an action without an inverse
begin
  if v_governor.governor_id is null then
    return writ_data.refusal('governor_not_found', left(p_tenant, 200));
  end if;
  v_may := writ_data.may(p_key, 'operate', p_tenant);
  if v_may.refusal is not null then
    return v_may.refusal;
  elsif (p_hash ~ '^[0-9a-f]{64}$') is not true then
    return writ_data.refusal('invalid_policy', 'its hash is not 64 hexadecimal digits');
  elsif p_document is not null and (p_document ->> 'policy_id' = p_policy_id
      and jsonb_typeof(p_document -> 'actions') = 'object'
      and jsonb_typeof(p_document -> 'when') = 'object'
      and jsonb_typeof(p_document -> 'principal') = 'string') is not true then
    return writ_data.refusal('invalid_policy', 'policy_id, principal, when and actions');
  elsif writ_data.inexact_number(p_document) is not null then
    return writ_data.refusal('value_not_canonical', writ_data.inexact_number(p_document));
  elsif exists (
      select from jsonb_each(p_document -> 'when') w
      where (jsonb_typeof(w.value -> 'limit') = 'number'
        and jsonb_typeof(w.value -> 'clear') = 'number') is not true) then
    return writ_data.refusal('invalid_policy', 'when: limit and clear are numbers');
  end if;

  perform from writ_data.governor_inbox b
  where b.governor_id = v_governor.governor_id
  for no key update;
  select * into v_last
  from writ_data.governor_policy p
  where p.governor_id = v_governor.governor_id
  order by p.version desc
  limit 1;
  if coalesce(v_last.version, 0) <> p_newest then
    return writ_data.refusal('policy_moved', format('version %s, published by %s',
      coalesce(v_last.version, 0), coalesce(v_last.published_by, 'nobody')));
  elsif v_last.hash = decode(p_hash, 'hex') and v_last.shadow = p_shadow
    and (v_last.document is null) = (p_document is null) then
    return jsonb_build_object('version', v_last.version, 'duplicate', true);
  elsif p_document is null and v_last.document is null then
    return writ_data.refusal('policy_not_found', p_tenant);
  end if;
  select a.key into v_lost
  from jsonb_each(coalesce(p_document -> 'actions', '{}')) a
  where jsonb_typeof(a.value -> 'inverse') is distinct from 'object'
  limit 1;
  if v_lost is not null then
    return writ_data.refusal('action_without_inverse', left(v_lost, 200));
  end if;

  v_version := coalesce(v_last.version, 0) + 1;
  insert into writ_data.governor_policy (governor_id, version, policy_id, document, hash, shadow,
    published_by, published_at)
  values (v_governor.governor_id, v_version, p_policy_id, p_document, decode(p_hash, 'hex'),
    p_shadow, (v_may.who).principal_id, v_now);
  perform writ_data.on_control_changed(p_tenant, 'governor_policy', concat(p_sku, ' ', p_policy_id),
    case when v_last.document is not null then jsonb_build_object('version', v_last.version,
      'hash', encode(v_last.hash, 'hex'), 'shadow', v_last.shadow) end,
    case when p_document is not null then jsonb_build_object('version', v_version, 'hash', p_hash,
      'shadow', p_shadow,
      'stored_sha256', encode(sha256(convert_to(p_document::text, 'UTF8')), 'hex')) end,
    (v_may.who).principal_id, v_now);
  perform writ_data.put_mail(array[v_governor.governor_id], array[jsonb_build_object(
    'kind', 'policy', 'actor', (v_may.who).principal_id,
    'policy', case when p_document is not null then jsonb_build_object('version', v_version,
      'hash', p_hash, 'shadow', p_shadow, 'document', p_document) end)], v_now);
  return jsonb_build_object('version', v_version);
exception when check_violation or not_null_violation or data_exception then
  return writ_data.refusal('invalid_policy', sqlerrm);
end $$;
