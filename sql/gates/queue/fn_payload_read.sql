-- gate: workflow_admin, dot_executor
-- A stored input or result by its reference, or null when this tenant has none by that name.
create or replace function writ.fn_payload_read(p_ref text, p_tenant_id text) returns json
  language sql security definer set search_path = pg_catalog, pg_temp as $$
  select body::json from writ_data.payload
  where tenant_id = p_tenant_id and writ_data.visible(tenant_id) and p_ref ~ '^sha256:[0-9a-f]{64}$' and sha256 = decode(substr(p_ref, 8, 64), 'hex')
$$;
