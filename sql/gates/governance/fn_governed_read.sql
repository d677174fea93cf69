-- What a worker needs for the audits of governance jobs: whose they are, the contracts' steps, to read places outside the database, and the probes to ask. Answers [{tenant, steps, probes, status} or a refusal], in order.
-- Callers: writ_applier
create or replace function writ.fn_governed_read(p_jobs uuid[]) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
begin
  return (select jsonb_agg(case when c.contract_id is null then writ_data.refusal('job_not_found', u.id::text) else jsonb_build_object('tenant', c.tenant_id, 'steps', c.steps, 'probes', writ_data.probes_of(c.tenant_id, array(select distinct s.target from writ_data.slots(c.steps) s)), 'status', g.status) end order by u.n)
    from unnest(p_jobs) with ordinality u(id, n) left join writ_data.governance_job g on g.job_id = u.id left join writ_data.contract c on c.contract_id = g.contract_id);
end $$;
