-- What a worker needs to check signatures itself before the first effect, for the runs of governance jobs: what was signed (of an instance, by way of its template; of a broken glass, with the reason) and by whom. The hash is for the worker to make, so it is not here. Answers
-- [{content, signed: {contract_id, content, policy_version, pre_state}, glass_broken, template: {params, bounds}, reviews: [{by, signature, public_key}]} or null], in order. It is the one call that each job costs: planned once per session, and each row is looked up (OFFSET 0), however
-- few there were when it was planned.
-- Callers: writ_applier
create or replace function writ.fn_governed_approvals(p_runs uuid[]) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
begin
  return (
    select coalesce(jsonb_agg(case when t.contract_id is not null then jsonb_build_object('content', c.content, 'signed', jsonb_build_object('contract_id', t.contract_id, 'content', t.content, 'policy_version', t.policy_version, 'pre_state', t.pre_state), 'glass_broken', c.glass_broken,
      'template', case when c.template_id is not null then jsonb_build_object('params', c.template_params, 'bounds', t.template -> 'params') end,
      'reviews', (select coalesce(jsonb_agg(jsonb_build_object('by', r.by, 'signature', encode(r.signature, 'hex'), 'public_key', encode(r.public_key, 'hex')) order by r.review_no), '[]') from writ_data.contract_review r
        where r.contract_id = t.contract_id and case when c.glass_broken is not null then r.action = 'BREAK_GLASS' else r.action = 'APPROVE' and r.hash = t.approval_hash and r.by <> t.created_by end)) end order by u.n), '[]')
    from unnest(p_runs) with ordinality u(run_id, n)
    left join lateral (select x.tenant_id, x.contract_id from writ_data.governance_job x where x.run_id = u.run_id and writ_data.visible(x.tenant_id) offset 0) g on true
    left join lateral (select x.* from writ_data.contract x where x.tenant_id = g.tenant_id and x.contract_id = g.contract_id offset 0) c on true
    left join lateral (select x.* from writ_data.contract x where x.tenant_id = g.tenant_id and x.contract_id = coalesce(c.template_id, c.contract_id) offset 0) t on true);
end $$;
