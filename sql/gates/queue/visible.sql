-- A guard against our own bugs: with writ.tenant set in a transaction, only that tenant's jobs exist there. Not row-level security: under
-- it no index on a uuid can be used, because the comparison of uuids is not leakproof (docs/decisions/0002). Views write the same out, since
-- whoever reads a view needs the right to each function in it.
create or replace function writ_data.visible(p_tenant_id text) returns boolean language sql stable
  return coalesce(current_setting('writ.tenant', true), '') in ('', p_tenant_id);
