-- gate: dot_executor, workflow_admin
-- What a worker needs to read places outside the database for an audit: the contract's steps, its tenant, and what is expected there. Answers {tenant, steps, targets}.
create or replace function writ.fn_governed_read(p_job_id uuid) returns jsonb
  language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select coalesce((select jsonb_build_object('tenant', c.tenant_id, 'steps', c.steps, 'targets', (select coalesce(jsonb_agg(distinct s.target), '[]') from writ_data.slots(c.steps) s), 'status', g.status)
    from writ_data.governance_job g join writ_data.contract c on c.contract_id = g.contract_id where g.job_id = p_job_id), writ_data.refusal('job_not_found', p_job_id::text));
end;
