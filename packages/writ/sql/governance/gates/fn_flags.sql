-- Reads the flags of several tenants: capabilities by name, with their lifecycle, and configuration
-- values as scope#key.
-- Callers: writ_principal, processes, readers
-- p_ask: {tenant: {known: fingerprint}} for up to 1000 tenants. The fingerprint is the SHA-256 of
--          "name version" in lines, sorted by bytes, in hexadecimal.
-- Answers: {tenant: {name: [version, value]}}, without tenants whose fingerprint is known.
-- Refuses: invalid_argument, TENANT_ACCESS_DENIED.
create or replace function writ.fn_flags(p_ask jsonb) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant text := writ_data.caller_tenant();
  v_hidden text;
begin
  if jsonb_typeof(p_ask) is distinct from 'object' or (
    select count(*) from jsonb_object_keys(p_ask)
  ) > 1000 then
    return writ_data.refusal('invalid_argument', 'It asks for up to a thousand tenants by name.');
  end if;
  select min(a.key) into v_hidden from jsonb_each(p_ask) a where a.key <> v_tenant;
  if v_hidden is not null then
    return writ_data.refusal('TENANT_ACCESS_DENIED', v_hidden);
  end if;

  return (
    select coalesce(jsonb_object_agg(a.key, coalesce(f.flags, '{}')), '{}')
    from jsonb_each(p_ask) a
    cross join lateral (
      select
        jsonb_object_agg(x.name, jsonb_build_array(x.version, x.value)) as flags,
        encode(
          sha256(convert_to(
            coalesce(string_agg(x.name || ' ' || x.version, e'\n' order by x.name collate "C"), ''),
            'UTF8'
          )),
          'hex'
        ) as fingerprint
      from (
        select c.capability_name as name, c.version, to_jsonb(c.lifecycle) as value
        from writ_data.capability c
        where c.tenant_id = a.key
        union all
        select v.scope || '#' || v.key, v.version, v.value
        from writ_data.configuration v
        where v.tenant_id = a.key
      ) x
    ) f
    where a.value ->> 'known' is distinct from f.fingerprint
  );
end $$;
