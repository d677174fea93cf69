-- Begins a call that its caller may repeat. The library sends it, the gate of the call and
-- fn_request_end in one statement.
-- Callers: processes, writ_principal, writ_server, writ_admin
-- p_digest: SHA-256 of the call, in hexadecimal.
-- Answers: what the same call has answered before; null if there was none, and the call is to be
--          made now.
-- Refuses: invalid_once, invalid_tenant, tenant_forbidden, once_conflict (another call has used
--          this key).
-- Locks:   the row of this key until the transaction ends, so a second call waits for the first.
--
-- Rows belong to one login, one principal, which the key or the login authenticates, and one
-- tenant. No caller reads or writes the rows of another.
create or replace function writ.fn_request_begin(
  p_key text,
  p_tenant_id text,
  p_once text,
  p_digest text
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
  v_who text := coalesce(writ_data.on_caller_named(p_key), '');
  v_request record;
begin
  if p_once is null or length(p_once) not between 1 and 255 then
    return writ_data.refusal('invalid_once', 'A key has 1 to 255 characters.');
  elsif length(p_tenant_id) > 200 then
    return writ_data.refusal('invalid_tenant');
  elsif p_tenant_id <> '' and (
    not writ_data.visible(p_tenant_id)
    or writ_data.on_caller_elsewhere(p_key, p_tenant_id)
  ) then
    return writ_data.refusal('tenant_forbidden');
  elsif p_digest is null or p_digest !~ '^[0-9a-f]{64}$' then
    return writ_data.refusal('invalid_once', 'A digest has 64 hexadecimal digits.');
  end if;

  -- About one call in a hundred looks how many rows its caller has. The caller's session can
  -- predict random(), but not the bytes of a UUID.
  if get_byte(uuid_send(gen_random_uuid()), 0) < 3 then
    perform writ_data.trim_requests(v_who);
  end if;

  loop
    -- Waits for a transaction that has begun the same request.
    insert into writ_data.request (login, principal_id, tenant_id, once, digest, at)
    values (
      session_user, v_who, coalesce(p_tenant_id, ''), p_once, decode(p_digest, 'hex'), writ.now()
    )
    on conflict do nothing;
    if found then
      return null;
    end if;

    select r.digest, r.answer into v_request
    from writ_data.request r
    where r.login = session_user and r.principal_id = v_who
      and r.tenant_id = coalesce(p_tenant_id, '') and r.once = p_once
    for no key update;
    if found then
      exit;
    end if;
    -- The row has gone in between: its call was refused, or it was too old.
  end loop;

  if v_request.digest <> decode(p_digest, 'hex') then
    return writ_data.refusal('once_conflict', p_once);
  end if;
  return v_request.answer;
end $$;
