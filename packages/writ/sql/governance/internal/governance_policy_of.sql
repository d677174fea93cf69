-- Returns the policy in force for a tenant, with its version. Version 0 is the built-in policy.
create or replace function writ_data.governance_policy_of(
  p_tenant text,
  out version integer,
  out document jsonb
)
language sql stable
begin atomic
  select coalesce(p.version, 0), writ_data.built_in_policy() || coalesce(p.document, '{}')
  from (select 1) one
  left join lateral (
    select x.version, x.document
    from writ_data.governance_policy x
    where x.tenant_id = p_tenant
    order by x.version desc
    limit 1
  ) p on true;
end;
