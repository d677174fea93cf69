-- Finds the acting principal (principal_of), and whether it may do this in a tenant. refusal is
-- null if it may. A refusal of a known principal leaves a receipt (deny): for a missing right, for
-- another tenant, and for a bound login that sends the key of another principal. The receipt is in
-- the log of the principal's own tenant, or of `default`, and names the tenant that was asked for:
-- no caller writes into the log of a tenant that it names, or begins one.
-- Raises:  25000 (require_read_committed).
create or replace function writ_data.may(
  p_key text,
  p_right text,
  p_tenant text,
  out who writ_data.principal,
  out refusal jsonb
)
language plpgsql
as $$
declare
  v_now timestamptz := writ.now();
  v_tenant text;               -- the only one that this login may touch
  v_known boolean;             -- p_tenant can be the name of a tenant
  v_bound writ_data.principal; -- whose login this is
  v_claimed text;
begin
  perform writ_data.require_read_committed();
  select * into who from writ_data.principal_of(p_key);
  v_tenant := writ_data.caller_tenant();
  v_known := p_tenant <> '_system' and length(p_tenant) between 1 and 200;

  if who.principal_id is null then
    v_claimed := nullif(left(split_part(coalesce(p_key, ''), ':', 1), 100), '');
    select p.* into v_bound
    from writ_data.login l
    join writ_data.principal p on p.principal_id = l.principal_id
    where l.login = session_user;
    if found then
      refusal := writ_data.deny(
        v_bound, p_right, coalesce(v_bound.tenant_id, 'default'), 'not_authenticated', v_claimed,
        v_now, p_tenant
      );
    else
      refusal := writ_data.refusal('not_authenticated', v_claimed);
    end if;
  elsif v_known is not true or v_tenant <> p_tenant or who.tenant_id <> p_tenant then
    refusal := writ_data.deny(
      who, p_right, coalesce(who.tenant_id, 'default'), 'TENANT_ACCESS_DENIED',
      left(p_tenant, 200), v_now, p_tenant
    );
  elsif p_right <> all (who.rights)
    -- An operator may also report.
    and not (p_right = 'report' and 'operate' = any (who.rights))
  then
    refusal := writ_data.deny(
      who, p_right, coalesce(who.tenant_id, 'default'),
      case when who.kind = 'agent' then 'agents_only_propose' else 'not_authorized' end,
      format('%s is not allowed to %s.', who.principal_id, replace(p_right, '_', ' ')), v_now,
      p_tenant
    );
  end if;
end $$;
