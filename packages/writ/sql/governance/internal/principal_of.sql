-- Finds the acting principal. A login that is bound to a principal acts for that principal and
-- needs no key. Otherwise p_key is the principal's name and its authenticating part in hexadecimal,
-- with a colon between. A login with writ_server has checked the principal itself, and sends only
-- the name. No row means that no principal is known.
create or replace function writ_data.principal_of(p_key text)
returns setof writ_data.principal
language plpgsql stable
as $$
declare
  v_name text := split_part(p_key, ':', 1);
  v_secret text := split_part(p_key, ':', 2);
  v_bound text;
begin
  select l.principal_id into v_bound from writ_data.login l where l.login = session_user;

  if v_bound is not null then
    return query
      select p.* from writ_data.principal p
      where p.principal_id = v_bound and p.disabled_at is null
        and v_bound = coalesce(nullif(v_name, ''), v_bound);
  elsif position(':' in p_key) > 0 then
    return query
      select p.* from writ_data.principal p
      where p.principal_id = v_name and p.disabled_at is null
        and v_secret ~ '^[0-9a-f]{64}$' and p.auth_sha256 = sha256(decode(v_secret, 'hex'));
  elsif p_key is not null and writ_data.caller_has('writ_server') then
    return query
      select p.* from writ_data.principal p
      where p.principal_id = v_name and p.disabled_at is null;
  end if;
end $$;
