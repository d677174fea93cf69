-- Null if the principal behind a key may do this in a tenant; else the refusal. What is refused for want of a right has a receipt, in the stream of denials of the tenant.
create or replace function writ_data.may(p_key text, p_right text, p_tenant text, out who writ_data.principal, out refusal jsonb) language plpgsql as $$
begin
  select * into who from writ_data.principal_of(p_key);
  if who.principal_id is null then
    refusal := writ_data.refusal('not_authenticated', nullif(left(split_part(coalesce(p_key, ''), ':', 1), 100), ''));
  elsif not writ_data.visible(p_tenant) or coalesce(who.tenant_id, p_tenant) <> p_tenant then
    refusal := writ_data.refusal('TENANT_ACCESS_DENIED', p_tenant);
  elsif p_right <> all (who.rights) and not (p_right = 'report' and 'operate' = any (who.rights)) then -- whoever operates may say how things are
    refusal := writ_data.deny(who, p_right, p_tenant, case when who.kind = 'agent' then 'agents_only_propose' else 'not_authorized' end, format('%s has not the right to %s.', who.principal_id, replace(p_right, '_', ' ')), writ.now());
  end if;
end $$;
