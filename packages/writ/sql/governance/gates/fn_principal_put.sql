-- Adds a principal, or changes its rights, permissions or key.
-- Callers: writ_admin
-- p_principal: {principal_id, kind, on_behalf_of, tenant, rights, permissions (what it may have
--          done by a governor), auth_sha256 and public_key (hexadecimal), disabled, new: true if it
--          must not exist yet, false if it must}. The secret key stays with the principal.
-- Answers: {principal_id}. Each change leaves a receipt in the log _system, with the login.
-- Refuses: actor_required, tenant_forbidden, principal_exists, principal_not_found,
--          invalid_principal. Kind, tenant and on_behalf_of never change. Names of the system are
--          reserved. An agent can reach only tenants that the principals it acts for can reach.
-- Locks:   the principal. If two calls add the same name, the second waits for the first.
create or replace function writ.fn_principal_put(p_principal jsonb, p_actor text) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  v_id text := p_principal ->> 'principal_id';
  v_bound text := writ_data.caller_tenant();
  v_new boolean;
  v_kind text;
  v_known writ_data.principal;
  v_put writ_data.principal;
  v_before jsonb;
begin
  if length(coalesce(btrim(p_actor), '')) not between 1 and 200 then
    return writ_data.refusal('actor_required', 'An actor has 1 to 200 characters.');
  elsif jsonb_typeof(p_principal) is distinct from 'object' then
    return writ_data.refusal('invalid_principal', 'A principal is an object.');
  elsif octet_length(p_principal::text) > 65536 then
    return writ_data.refusal('invalid_principal', 'A principal has 64 KB at most.');
  elsif lower(v_id) ~ '^(writ|system|migration|public)$|^writ[._-]' then
    return writ_data.refusal('invalid_principal', format('%s is a name of the system.', v_id));
  end if;
  v_new := (p_principal ->> 'new')::boolean;

  select * into v_known from writ_data.principal where principal_id = v_id for no key update;
  -- A login that is bound to a tenant may put only principals of that tenant.
  if v_bound <> coalesce(v_known.tenant_id, '') and v_known.principal_id is not null
      or v_bound <> coalesce(p_principal ->> 'tenant', '') and v_known.principal_id is null then
    return writ_data.refusal('tenant_forbidden', v_id);
  end if;

  if v_new and v_known.principal_id is not null then
    return writ_data.refusal('principal_exists', v_id);
  elsif not v_new and v_known.principal_id is null then
    return writ_data.refusal('principal_not_found', v_id);
  elsif v_known.principal_id is not null and (
    v_known.kind <> coalesce(p_principal ->> 'kind', v_known.kind)
    or v_known.on_behalf_of is distinct from
      coalesce(p_principal ->> 'on_behalf_of', v_known.on_behalf_of)
    or v_known.tenant_id is distinct from coalesce(p_principal ->> 'tenant', v_known.tenant_id)
  ) then
    return writ_data.refusal(
      'invalid_principal', 'Who somebody is does not change: add another principal.'
    );
  end if;

  if v_known.principal_id is null then
    if p_principal ->> 'on_behalf_of' = v_id then
      return writ_data.refusal('invalid_principal', 'An agent acts for somebody else.');
    elsif exists (
      select from writ_data.principal p
      where p.principal_id = p_principal ->> 'on_behalf_of'
        and p.tenant_id <> coalesce(p_principal ->> 'tenant', '')
    ) then
      return writ_data.refusal('invalid_principal', format(
        '%s belongs to another tenant: nobody acts for them in this one.',
        p_principal ->> 'on_behalf_of'
      ));
    end if;
    v_kind := p_principal ->> 'kind';
    insert into writ_data.principal (
      principal_id, tenant_id, kind, on_behalf_of, rights, permissions, auth_sha256, public_key,
      added_by, added_at, disabled_at
    ) values (
      v_id, p_principal ->> 'tenant', v_kind, p_principal ->> 'on_behalf_of',
      array(select jsonb_array_elements_text(coalesce(
        p_principal -> 'rights',
        case v_kind
          when 'person' then '["propose", "approve", "activate"]'::jsonb
          when 'service' then '["propose", "activate", "report"]'
          else '["propose"]'
        end
      ))),
      array(select jsonb_array_elements_text(coalesce(p_principal -> 'permissions', '[]'))),
      decode(p_principal ->> 'auth_sha256', 'hex'), decode(p_principal ->> 'public_key', 'hex'),
      p_actor, v_now, case when (p_principal ->> 'disabled')::boolean then v_now end
    )
    on conflict do nothing
    returning * into v_put;
    if v_put.principal_id is null then
      return writ_data.refusal('principal_exists', v_id);
    end if;
  else
    v_before := to_jsonb(v_known) - 'auth_sha256';
    update writ_data.principal p
    set
      rights = case when p_principal ? 'rights'
        then array(select jsonb_array_elements_text(p_principal -> 'rights')) else p.rights end,
      permissions = case when p_principal ? 'permissions'
        then array(select jsonb_array_elements_text(p_principal -> 'permissions'))
        else p.permissions end,
      auth_sha256 = coalesce(decode(p_principal ->> 'auth_sha256', 'hex'), p.auth_sha256),
      public_key = coalesce(decode(p_principal ->> 'public_key', 'hex'), p.public_key),
      disabled_at = case
        when not p_principal ? 'disabled' then p.disabled_at
        when (p_principal ->> 'disabled')::boolean then coalesce(p.disabled_at, v_now)
      end
    where p.principal_id = v_id
    returning * into v_put;
  end if;

  perform writ_data.on_control_changed(
    null, 'principal', v_id, v_before, to_jsonb(v_put) - 'auth_sha256', p_actor, v_now
  );
  perform writ_data.record(
    'fn_principal_put', p_actor, v_now, '{}', '{}', '{}', '{}', p_note => v_id
  );
  return jsonb_build_object('principal_id', v_id);
exception when integrity_constraint_violation or data_exception then
  return writ_data.refusal('invalid_principal', sqlerrm);
end $$;
