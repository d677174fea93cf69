-- Finds who acts (principal_of) and whether they may do this in a tenant. refusal is null if so. A
-- missing right leaves a receipt in the tenant's stream of denials (deny).
create or replace function writ_data.may(
  p_key text,
  p_right text,
  p_tenant text,
  out who writ_data.principal,
  out refusal jsonb
)
language plpgsql
as $$
begin
  select * into who from writ_data.principal_of(p_key);
  if who.principal_id is null then
    refusal := writ_data.refusal(
      'not_authenticated', nullif(left(split_part(coalesce(p_key, ''), ':', 1), 100), '')
    );
  elsif p_tenant is null or p_tenant = '_system' or length(p_tenant) not between 1 and 200
    or not writ_data.visible(p_tenant) or coalesce(who.tenant_id, p_tenant) <> p_tenant
  then
    refusal := writ_data.refusal('TENANT_ACCESS_DENIED', left(p_tenant, 200));
  elsif p_right <> all (who.rights)
    -- An operator may also report.
    and not (p_right = 'report' and 'operate' = any (who.rights))
  then
    refusal := writ_data.deny(
      who, p_right, p_tenant,
      case when who.kind = 'agent' then 'agents_only_propose' else 'not_authorized' end,
      format('%s is not allowed to %s.', who.principal_id, replace(p_right, '_', ' ')),
      writ.now()
    );
  end if;
end $$;
