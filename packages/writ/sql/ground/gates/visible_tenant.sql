-- The tenant whose rows the views show to this login; '' stands for all of them.
-- Callers: writ_principal, writ_signer, processes, readers
create or replace function writ.visible_tenant() returns text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(writ_data.caller_tenant(), '');
end $$;
