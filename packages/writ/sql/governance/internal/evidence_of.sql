-- Returns the last stored answers of the probes of some targets: {probe: {status, detail, at}}.
-- A configuration scope counts its owner's probes.
create or replace function writ_data.evidence_of(p_tenant text, p_targets text[]) returns jsonb
language plpgsql stable
as $$
begin
  return coalesce(
    (
      select jsonb_object_agg(
        p.name, jsonb_build_object('status', p.status, 'detail', p.detail, 'at', p.checked_at)
      )
      from unnest(p_targets) t(target)
      left join writ_data.configuration_scope o on o.tenant_id = p_tenant and o.scope = t.target
      join writ_data.probe p
        on p.tenant_id = p_tenant and p.capability = coalesce(o.owner_capability, t.target)
    ),
    '{}'
  );
end $$;
