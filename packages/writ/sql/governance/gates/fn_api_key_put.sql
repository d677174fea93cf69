-- Adds an API key of a principal, or revokes one. The secret stays with its holder.
-- Callers: writ_admin, writ_server
-- p_key:   names the principal that acts, and has the right to administer; null: the login has
--          writ_admin.
-- p_put:   {key_id, principal_id, tenant, rights, label, expires_at, secret_sha256 (hexadecimal)},
--          or {key_id, revoked: true}.
-- Answers: {key_id}. Each change leaves a receipt in the log of the key's tenant, or _system.
-- Refuses: actor_required, principal_not_found, api_key_not_found, api_key_exists, invalid_api_key,
--          tenant_forbidden, and what may() refuses (right: administer). Only an administrator of
--          all tenants puts keys of a principal of all tenants.
-- Locks:   the key that is revoked.
create or replace function writ.fn_api_key_put(p_key text, p_put jsonb, p_actor text)
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  v_bound text := writ_data.caller_tenant();
  m record;
  v_by text;
  v_of writ_data.principal;
  v_known writ_data.api_key;
  v_was jsonb;
begin
  if jsonb_typeof(p_put) is distinct from 'object' or octet_length(p_put::text) > 8192 then
    return writ_data.refusal('invalid_api_key', 'A key is an object of 8 KB at most.');
  end if;

  select * into v_known
  from writ_data.api_key
  where key_id = p_put ->> 'key_id'
  for no key update;
  select * into v_of
  from writ_data.principal
  where principal_id = coalesce(v_known.principal_id, p_put ->> 'principal_id');

  -- Check who acts, before anything is said about the key.
  if p_key is null and writ_data.caller_has('writ_admin') then
    v_by := p_actor;
    if length(coalesce(btrim(v_by), '')) not between 1 and 200 then
      return writ_data.refusal('actor_required', 'An actor has 1 to 200 characters.');
    elsif v_bound <> coalesce(v_of.tenant_id, '') then
      return writ_data.refusal('tenant_forbidden');
    end if;
  else
    m := writ_data.may(p_key, 'administer', coalesce(v_of.tenant_id, v_bound, 'default'));
    if m.refusal is not null then
      return m.refusal;
    elsif (m.who).tenant_id <> coalesce(v_of.tenant_id, '') then
      return writ_data.deny(
        m.who, 'administer', (m.who).tenant_id, 'TENANT_ACCESS_DENIED', v_of.principal_id, v_now
      );
    end if;
    v_by := (m.who).principal_id;
  end if;

  -- Write, record and answer.
  if coalesce((p_put ->> 'revoked')::boolean, false) then
    if v_known.key_id is null then
      return writ_data.refusal('api_key_not_found', left(p_put ->> 'key_id', 100));
    elsif v_known.revoked_at is not null then
      return jsonb_build_object('key_id', v_known.key_id);
    end if;
    v_was := to_jsonb(v_known) - '{secret_sha256,last_used_at}'::text[];
    update writ_data.api_key
    set revoked_at = v_now
    where key_id = v_known.key_id
    returning * into v_known;
  elsif v_known.key_id is not null then
    return writ_data.refusal('api_key_exists', v_known.key_id);
  elsif v_of.principal_id is null or v_of.disabled_at is not null then
    return writ_data.refusal('principal_not_found', left(p_put ->> 'principal_id', 100));
  elsif v_of.tenant_id <> p_put ->> 'tenant' then
    return writ_data.refusal('invalid_api_key', 'The principal belongs to another tenant.');
  elsif coalesce(jsonb_typeof(p_put -> 'rights'), 'null') not in ('null', 'array') then
    -- jsonb counts a text as contained in an array that has it.
    return writ_data.refusal('invalid_api_key', 'The rights of a key are an array, or null.');
  elsif jsonb_typeof(p_put -> 'rights') = 'array'
    and not p_put -> 'rights' <@ to_jsonb(v_of.rights)
  then
    return writ_data.refusal('invalid_api_key', 'A key has rights of its principal only.');
  else
    insert into writ_data.api_key (
      key_id, principal_id, tenant_id, rights, label, secret_sha256, expires_at, added_by, added_at
    ) values (
      p_put ->> 'key_id', v_of.principal_id, p_put ->> 'tenant',
      case when jsonb_typeof(p_put -> 'rights') = 'array'
        then array(select jsonb_array_elements_text(p_put -> 'rights')) end,
      coalesce(p_put ->> 'label', ''), decode(p_put ->> 'secret_sha256', 'hex'),
      writ_data.moment(p_put ->> 'expires_at'), v_by, v_now
    )
    returning * into v_known;
  end if;

  perform writ_data.on_control_changed(
    coalesce(v_known.tenant_id, v_of.tenant_id), 'api_key', v_known.key_id, v_was,
    to_jsonb(v_known) - '{secret_sha256,last_used_at}'::text[], v_by, v_now
  );
  perform writ_data.record(
    'fn_api_key_put', v_by, v_now, '{}', '{}', '{}', '{}', p_note => v_known.key_id
  );
  return jsonb_build_object('key_id', v_known.key_id);
exception when integrity_constraint_violation or data_exception then
  return writ_data.refusal('invalid_api_key', sqlerrm);
end $$;
