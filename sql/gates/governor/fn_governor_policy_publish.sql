-- Publishes the next version of a governor's policy; without a document, withdraws it. p_hash is the SHA-256 of its canonical JSON, in hexadecimal. For principals with the right to operate. The same version again is not published twice. Answers {version, duplicate}.
-- Callers: writ_principal, writ_server
create or replace function writ.fn_governor_policy_publish(p_key text, p_tenant text, p_sku text, p_policy_id text, p_document jsonb, p_hash text, p_shadow boolean) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := writ.now(); m record; g writ_data.governor := writ_data.governor_of(p_tenant, p_sku); v_last writ_data.governor_policy; v_version integer; v_lost text;
begin
  if g.governor_id is null then
    return writ_data.refusal('governor_not_found', p_tenant);
  end if;
  m := writ_data.may(p_key, 'operate', p_tenant);
  if m.refusal is not null then
    return m.refusal;
  end if;
  perform from writ_data.governor_inbox b where b.governor_id = g.governor_id for no key update;
  select * into v_last from writ_data.governor_policy p where p.governor_id = g.governor_id order by p.version desc limit 1;
  if v_last.hash = decode(p_hash, 'hex') and v_last.shadow = p_shadow and (v_last.document is null) = (p_document is null) then
    return jsonb_build_object('version', v_last.version, 'duplicate', true);
  elsif p_document is null and v_last.document is null then
    return writ_data.refusal('policy_not_found', p_tenant);
  end if;
  select a.key into v_lost from jsonb_each(coalesce(p_document -> 'actions', '{}')) a where jsonb_typeof(a.value -> 'inverse') is distinct from 'object' limit 1;
  if v_lost is not null then
    return writ_data.refusal('action_without_inverse', v_lost);
  end if;
  v_version := coalesce(v_last.version, 0) + 1;
  insert into writ_data.governor_policy (governor_id, version, policy_id, document, hash, shadow, published_by, published_at)
  values (g.governor_id, v_version, p_policy_id, p_document, decode(p_hash, 'hex'), p_shadow, (m.who).principal_id, v_now);
  perform writ_data.put_mail(array[g.governor_id], array[jsonb_build_object('kind', 'policy', 'actor', (m.who).principal_id, 'policy', case when p_document is null then null else jsonb_build_object('version', v_version, 'hash', p_hash, 'shadow', p_shadow, 'document', p_document) end)], v_now);
  return jsonb_build_object('version', v_version);
exception when check_violation or not_null_violation or data_exception then
  return writ_data.refusal('invalid_policy', sqlerrm);
end $$;
