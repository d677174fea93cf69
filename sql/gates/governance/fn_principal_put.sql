-- Adds a principal, or gives one other rights or another key. p_principal: {principal_id, kind, on_behalf_of, tenant, rights, permissions (what it may have done by a governor), auth_sha256, public_key (both in hexadecimal), disabled, new: true if it must not be there yet, so that nobody's key is replaced by mistake, false if it must}. What authenticates it and what it signs with come from one key that stays with it. Answers {principal_id}.
-- Callers: writ_admin
create or replace function writ.fn_principal_put(p_principal jsonb, p_actor text) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := writ.now(); v_id text := p_principal ->> 'principal_id'; v_known writ_data.principal;
begin
  if coalesce(btrim(p_actor), '') = '' then
    return writ_data.refusal('actor_required');
  end if;
  if (p_principal ->> 'new')::boolean then
    -- Of two that add the same name at the same time, one waits here and then finds it.
    perform pg_advisory_xact_lock(hashtextextended('writ principal ' || v_id, 0));
  end if;
  select * into v_known from writ_data.principal where principal_id = v_id for no key update;
  if (p_principal ->> 'new')::boolean and v_known.principal_id is not null then
    return writ_data.refusal('principal_exists', v_id);
  elsif not (p_principal ->> 'new')::boolean and v_known.principal_id is null then
    return writ_data.refusal('principal_not_found', v_id);
  end if;
  if v_known.principal_id is not null and (v_known.kind <> coalesce(p_principal ->> 'kind', v_known.kind) or v_known.on_behalf_of is distinct from coalesce(p_principal ->> 'on_behalf_of', v_known.on_behalf_of)) then
    return writ_data.refusal('invalid_principal', 'Who somebody is does not change: add another principal.');
  end if;
  insert into writ_data.principal (principal_id, tenant_id, kind, on_behalf_of, rights, permissions, auth_sha256, public_key, added_by, added_at, disabled_at)
  values (v_id, coalesce(p_principal ->> 'tenant', v_known.tenant_id), coalesce(p_principal ->> 'kind', v_known.kind), coalesce(p_principal ->> 'on_behalf_of', v_known.on_behalf_of), array(select jsonb_array_elements_text(coalesce(p_principal -> 'rights', to_jsonb(case coalesce(p_principal ->> 'kind', v_known.kind) when 'person' then '{propose,approve,activate}'::text[] when 'service' then '{propose,activate,report}' else '{propose}' end)))), array(select jsonb_array_elements_text(coalesce(p_principal -> 'permissions', '[]'))),
    coalesce(decode(p_principal ->> 'auth_sha256', 'hex'), v_known.auth_sha256), coalesce(decode(p_principal ->> 'public_key', 'hex'), v_known.public_key), p_actor, v_now, case when (p_principal ->> 'disabled')::boolean then v_now end)
  on conflict (principal_id) do update set rights = case when p_principal ? 'rights' then excluded.rights else principal.rights end, permissions = case when p_principal ? 'permissions' then excluded.permissions else principal.permissions end, auth_sha256 = excluded.auth_sha256, public_key = excluded.public_key,
    disabled_at = case when p_principal ? 'disabled' then case when (p_principal ->> 'disabled')::boolean then coalesce(principal.disabled_at, v_now) end else principal.disabled_at end;
  perform writ_data.record('fn_principal_put', p_actor, v_now, '{}', '{}', '{}', '{}', p_note => v_id);
  return jsonb_build_object('principal_id', v_id);
exception when check_violation or not_null_violation or foreign_key_violation or data_exception then
  return writ_data.refusal('invalid_principal', sqlerrm);
end $$;
