-- Reads a version of a governor's policy as it was published.
-- Callers: writ_principal, processes, readers
-- Answers: {version, hash, shadow, document}.
-- Refuses: policy_not_found.
create or replace function writ.fn_governor_policy(
  p_governor_id uuid,
  p_version integer
) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(
    (
      select jsonb_build_object(
        'version', p.version, 'hash', encode(p.hash, 'hex'), 'shadow', p.shadow,
        'document', p.document
      )
      from writ_data.governor_policy p
      join writ_data.governor g using (governor_id)
      where p.governor_id = p_governor_id and p.version = p_version
        and writ_data.visible(g.tenant_id)
    ),
    writ_data.refusal('policy_not_found', format('version %s', p_version))
  );
end $$;
