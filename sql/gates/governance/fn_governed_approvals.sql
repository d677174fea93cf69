-- gate: dot_executor, workflow_admin
-- What a worker needs to check signatures itself before the first effect, for the runs of governance jobs: what was signed (of an instance, by way of its template; of a broken glass, with the reason) and by whom. The hash is for the worker to make, so it is not here. Answers
-- [{content, signed: {contract_id, content, policy_version, pre_state}, glass_broken, template: {params, bounds}, reviews: [{by, signature, public_key}]} or null], in order.
create or replace function writ.fn_governed_approvals(p_runs uuid[]) returns jsonb
  language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select coalesce(jsonb_agg(x.answer order by u.n), '[]') from unnest(p_runs) with ordinality u(run_id, n) left join lateral (
    select jsonb_build_object('content', c.content, 'signed', jsonb_build_object('contract_id', t.contract_id, 'content', t.content, 'policy_version', t.policy_version, 'pre_state', t.pre_state), 'glass_broken', c.glass_broken,
      'template', case when c.template_id is not null then jsonb_build_object('params', c.template_params, 'bounds', t.template -> 'params') end,
      'reviews', (select coalesce(jsonb_agg(jsonb_build_object('by', r.by, 'signature', encode(r.signature, 'hex'), 'public_key', encode(r.public_key, 'hex')) order by r.review_no), '[]') from writ_data.contract_review r
        where r.contract_id = t.contract_id and case when c.glass_broken is not null then r.action = 'BREAK_GLASS' else r.action = 'APPROVE' and r.hash = t.approval_hash and r.by <> t.created_by end)) as answer
    from writ_data.governance_job g join writ_data.contract c on c.contract_id = g.contract_id join writ_data.contract t on t.contract_id = coalesce(c.template_id, c.contract_id)
    where g.run_id = u.run_id and writ_data.visible(g.tenant_id)) x on true;
end;
