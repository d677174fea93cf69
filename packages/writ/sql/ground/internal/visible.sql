-- Whether rows of a tenant exist for this call. A gate that looks at many rows reads
-- caller_tenant() once instead. This is not row-level security: under it no index on a uuid could
-- be used, because the comparison of uuids is not leakproof (docs/decisions/0002).
create or replace function writ_data.visible(p_tenant_id text) returns boolean
language plpgsql stable
as $$
declare
  v_only text := writ_data.caller_tenant();
begin
  return v_only is null or v_only = p_tenant_id;
end $$;
