-- Returns a governor by its tenant and product, if the caller may see it.
create or replace function writ_data.governor_of(
  p_tenant text,
  p_sku text
) returns writ_data.governor
language plpgsql stable
as $$
declare
  g writ_data.governor;
begin
  select *
  into g
  from writ_data.governor x
  where x.tenant_id = p_tenant and x.sku_id = p_sku and writ_data.visible(x.tenant_id);
  return g;
end $$;
