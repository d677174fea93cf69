-- What applications read, of several tenants at once: capabilities by name, with their lifecycle, and values as scope#key. p_ask: {tenant: {"targets": [...]} for these capabilities and scopes, or {"known": fingerprint} for everything, unless that is what the caller has}. The fingerprint is the SHA-256
-- of "name version" in lines, sorted by bytes, in hexadecimal. Answers {tenant: {name: [version, value]}}, without tenants of whom nothing is new.
-- Callers: writ_principal, processes, readers
create or replace function writ.fn_flags(p_ask jsonb) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_hidden text := (select min(a.key) from jsonb_each(p_ask) a where not writ_data.visible(a.key));
begin
  if v_hidden is not null then
    return writ_data.refusal('TENANT_ACCESS_DENIED', v_hidden);
  end if;
  return (
    select coalesce(jsonb_object_agg(a.key, coalesce(f.flags, '{}')), '{}')
    from jsonb_each(p_ask) a cross join lateral (
      select jsonb_object_agg(x.name, jsonb_build_array(x.version, x.value)) as flags, encode(sha256(convert_to(coalesce(string_agg(x.name || ' ' || x.version, e'\n' order by x.name collate "C"), ''), 'UTF8')), 'hex') as fingerprint
      from (
        select c.capability_name as name, c.capability_name as target, c.version, to_jsonb(c.lifecycle) as value from writ_data.capability c where c.tenant_id = a.key
        union all
        select v.scope || '#' || v.key, v.scope, v.version, v.value from writ_data.configuration v where v.tenant_id = a.key
      ) x where not a.value ? 'targets' or a.value -> 'targets' ? x.target
    ) f
    where a.value ? 'targets' or a.value ->> 'known' is distinct from f.fingerprint);
end $$;
