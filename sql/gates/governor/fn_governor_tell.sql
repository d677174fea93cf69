-- A host tells governors what it has found out: events of kind health_failed. Answers {}.
-- Callers: writ_engine
create or replace function writ.fn_governor_tell(p_governors uuid[], p_content jsonb) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if p_content ->> 'kind' is distinct from 'health_failed' then
    return writ_data.refusal('invalid_argument', 'kind');
  end if;
  perform writ_data.put_mail(array_agg(g.governor_id), array_agg(p_content), writ.now()) from writ_data.governor g where g.governor_id = any (p_governors) and writ_data.visible(g.tenant_id) having count(*) > 0;
  return '{}';
end $$;
