-- Makes a destination, or changes its address, event types or settings. A new destination receives
-- events from now on or, with p_since, all recorded events since then.
-- Callers: writ_admin, writ_server
-- Answers: {name, new}.
-- Refuses: actor_required, invalid_argument (also a thousand destinations of one tenant),
--          forbidden_payload_key, TENANT_ACCESS_DENIED (another tenant; for a login that is bound
--          to a tenant also the bus nats, whose servers a relay logs in to, and a secret that
--          another tenant's destination uses).
-- Locks:   the destination.
create or replace function writ.fn_destination_put(
  p_name text,
  p_bus text,
  p_types text[],
  p_tenant_id text,
  p_config jsonb,
  p_since timestamptz,
  p_actor text
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  v_only text := writ_data.caller_tenant();
  v_position writ_data.record_position;
  v_known writ_data.destination;
  v_wrong text;
  v_new boolean;
begin
  -- Validate.
  if coalesce(btrim(p_actor), '') = '' or length(p_actor) > 200 then
    return writ_data.refusal('actor_required');
  end if;
  v_wrong := case
    when coalesce(p_name, '') !~ '^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$'
      then 'A name has one to a hundred letters, digits and _ . -'
    when coalesce(p_bus, '') not in ('webhook', 'nats') then 'The bus is webhook or nats.'
    when coalesce(cardinality(p_types), 0) not between 1 and 100
      or exists (
        select from unnest(p_types) t
        where t is null or t !~ '^[A-Za-z0-9_.]{0,100}[*]?$' or t = '')
      then 'Types are one to a hundred names of events, such as dot.run.RunCompleted or dot.run.*'
    when p_tenant_id = '' or length(p_tenant_id) > 200 then 'A tenant has 1 to 200 characters.'
    when not isfinite(p_since) then 'p_since is a moment.'
    when jsonb_typeof(p_config) is distinct from 'object' or octet_length(p_config::text) > 16384
      then 'The config is an object of 16 KB at most.'
    when p_config::text ~ 'whsec_|://[^/"]*@'
      then 'The config has names of secrets, never a secret, and addresses without a password.'
  end;
  if v_wrong is not null then
    return writ_data.refusal('invalid_argument', v_wrong);
  elsif writ_data.forbidden_key(p_config) is not null then
    return writ_data.refusal('forbidden_payload_key', writ_data.forbidden_key(p_config));
  elsif v_only is not null and p_tenant_id is distinct from v_only then
    return writ_data.refusal('TENANT_ACCESS_DENIED', p_tenant_id);
  elsif v_only is not null and p_bus = 'nats' then
    return writ_data.refusal('TENANT_ACCESS_DENIED',
      'A relay logs in to the servers of NATS: only a login without a tenant names them.');
  elsif v_only is not null and exists (
    select from writ_data.destination x
    cross join lateral jsonb_path_query(x.config, 'lax $.secrets[*]') secret
    where x.tenant_id is distinct from v_only
      and secret in (select jsonb_path_query(p_config, 'lax $.secrets[*]'))) then
    return writ_data.refusal('TENANT_ACCESS_DENIED',
      'A destination of another tenant is signed with one of these secrets.');
  end if;

  -- Lock, and check under the lock.
  select * into v_known from writ_data.destination x where x.name = p_name for update;
  if found and v_known.tenant_id is distinct from p_tenant_id then
    -- Its undelivered events belong to the old tenant.
    return writ_data.refusal(
      case when writ_data.visible(v_known.tenant_id) then 'invalid_argument'
        else 'TENANT_ACCESS_DENIED' end,
      format('Destination %s is for another tenant. Make one of another name, or remove it first.',
        p_name));
  elsif not found and (
    select count(*) from writ_data.destination x
    where x.tenant_id is not distinct from p_tenant_id) >= 1000 then
    return writ_data.refusal('invalid_argument', 'A tenant has at most a thousand destinations.');
  end if;

  -- Write.
  v_position := (select b.start from writ_data.record_bounds(null) b);
  if p_since is not null then
    v_position := writ_data.position_since(p_since);
  end if;
  insert into writ_data.destination as x (name, bus, tenant_id, types, config, position,
    put_by, put_at, moved_at)
  values (p_name, p_bus, p_tenant_id, p_types, p_config, v_position, p_actor, v_now, v_now)
  on conflict (name) do update
  set bus = excluded.bus, types = excluded.types, config = excluded.config,
    put_by = excluded.put_by, put_at = excluded.put_at
  where x.tenant_id is not distinct from excluded.tenant_id
  returning xmax = 0 into v_new;
  if v_new is null then
    return writ_data.refusal('invalid_argument',
      format('Destination %s was just made for another tenant.', p_name));
  elsif not v_new and p_since is not null then
    -- The position never moves forward here, so no undelivered event is skipped. A relay that has
    -- the turn loses it.
    update writ_data.destination x
    set position = v_position, holder = null, turn = null, held_until = '-infinity'
    where x.name = p_name and x.position >= v_position;
  end if;
  perform writ_data.record('fn_destination_put', p_actor, v_now, '{}', '{}', '{}', '{}',
    p_note => p_name);
  return jsonb_build_object('name', p_name, 'new', v_new);
end $$;
