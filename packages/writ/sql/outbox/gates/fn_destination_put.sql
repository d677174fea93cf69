-- Makes a destination, or changes one: where it is, what it is told and of whom. A new one is told what happens from now on, or, with p_since, what has happened since and is still recorded. Answers {name, new}.
-- Callers: writ_admin, writ_server
create or replace function writ.fn_destination_put(p_name text, p_bus text, p_types text[], p_tenant_id text, p_config jsonb, p_since timestamptz, p_actor text) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := writ.now(); v_new boolean; v_xid xid8 := pg_snapshot_xmin(pg_current_snapshot()); v_first uuid := '00000000-0000-0000-0000-000000000000'; d writ_data.destination;
begin
  if coalesce(btrim(p_actor), '') = '' or length(p_actor) > 200 then
    return writ_data.refusal('actor_required');
  elsif coalesce(p_name, '') !~ '^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$' then
    return writ_data.refusal('invalid_argument', 'A name has one to a hundred letters, digits and _ . -');
  elsif coalesce(p_bus, '') not in ('webhook', 'nats') then
    return writ_data.refusal('invalid_argument', 'The bus is webhook or nats.');
  elsif coalesce(cardinality(p_types), 0) not between 1 and 100 or exists (select from unnest(p_types) t where t is null or t !~ '^[A-Za-z0-9_.]{0,100}\*?$' or t = '') then
    return writ_data.refusal('invalid_argument', 'Types are one to a hundred names of events, such as dot.run.RunCompleted or dot.run.*');
  elsif jsonb_typeof(p_config) is distinct from 'object' or octet_length(p_config::text) > 16384 then
    return writ_data.refusal('invalid_argument', 'The config is an object of 16 KB at most.');
  elsif writ_data.forbidden_key(p_config) is not null then
    return writ_data.refusal('forbidden_payload_key', writ_data.forbidden_key(p_config));
  elsif p_tenant_id is not null and not writ_data.visible(p_tenant_id) or p_tenant_id is null and writ_data.caller_tenant() is not null then
    return writ_data.refusal('TENANT_ACCESS_DENIED', p_tenant_id);
  end if;
  select * into d from writ_data.destination x where x.name = p_name for update;
  if found and d.tenant_id is distinct from p_tenant_id then
    -- What it has not been told yet is of the old tenant.
    return writ_data.refusal(case when writ_data.visible(d.tenant_id) then 'invalid_argument' else 'TENANT_ACCESS_DENIED' end, format('Destination %s is for another tenant. Make one of another name, or remove it first.', p_name));
  elsif p_since is not null then
    v_xid := writ_data.outbox_since(p_since);
  end if;
  insert into writ_data.destination as x (name, bus, tenant_id, types, config, xid, batch_id, put_by, put_at, moved_at) values (p_name, p_bus, p_tenant_id, p_types, p_config, v_xid, v_first, p_actor, v_now, v_now)
  on conflict (name) do update set bus = excluded.bus, types = excluded.types, config = excluded.config, put_by = excluded.put_by, put_at = excluded.put_at where x.tenant_id is not distinct from excluded.tenant_id
  returning xmax = 0 into v_new;
  if v_new is null then
    return writ_data.refusal('invalid_argument', format('Destination %s was just made for another tenant.', p_name));
  elsif not v_new and p_since is not null then
    -- Never forward: what it has not been told yet, it will be. Whoever is telling it something is not heard any more.
    update writ_data.destination x set xid = v_xid, batch_id = v_first, holder = null, turn = null, held_until = '-infinity' where x.name = p_name and x.xid >= v_xid;
  end if;
  perform writ_data.record('fn_destination_put', p_actor, v_now, '{}', '{}', '{}', '{}', p_note => p_name);
  return jsonb_build_object('name', p_name, 'new', v_new);
end $$;
