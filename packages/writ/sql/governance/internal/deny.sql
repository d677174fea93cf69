-- Refuses an act of a principal, with a receipt in the tenant's stream of denials. Above
-- governance.denials_per_minute, in all tenants together, it writes no more receipts. The clockwork
-- then writes one receipt that counts the rest of the minute (count_denials). A login of one tenant
-- writes into the log of that tenant only, whoever the principal is. p_asked: the tenant that the
-- caller named; the receipt says it where it is in another log.
create or replace function writ_data.deny(
  p_who writ_data.principal,
  p_right text,
  p_tenant text,
  p_code text,
  p_detail text,
  p_at timestamptz,
  p_asked text default null
) returns jsonb
language plpgsql
as $$
declare
  v_most integer := (writ_data.setting('governance.denials_per_minute'))::integer;
  -- The login's row only: a caller may set writ.tenant to the name of another tenant.
  v_login_tenant text := (select l.tenant_id from writ_data.login l where l.login = session_user);
  v_tenant text := coalesce(v_login_tenant, p_tenant);
  v_written boolean;  -- this denial gets a receipt, as all before it in this minute did
begin
  insert into writ_data.denial as d (
    principal_id, minute, login_tenant, tenant_id, denials, receipts
  ) values (
    p_who.principal_id, date_trunc('minute', p_at), coalesce(v_login_tenant, ''), v_tenant, 1, 1
  )
  on conflict (principal_id, minute, login_tenant) do update
  set denials = d.denials + 1,
    receipts = d.receipts + (d.receipts = d.denials and d.receipts < v_most)::integer
  returning d.receipts = d.denials into v_written;

  if v_written then
    perform writ_data.governance_receipt(
      v_tenant, 'access', writ_data.next_seq(v_tenant, 'access', 1), 'refuse', 'access_denied',
      jsonb_build_object(
        'principal', p_who.principal_id, 'kind', p_who.kind, 'right', left(p_right, 100),
        'code', p_code
      ) || case when p_asked <> v_tenant
        then jsonb_build_object('tenant', left(p_asked, 200)) else '{}' end,
      p_at
    );
  end if;
  return writ_data.refusal(p_code, p_detail);
end $$;
