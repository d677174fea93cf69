-- Audits governance jobs whose steps are done. p_items: [{job, evidence: what probes say now, read: what stands outside the database now}]. PASS: it is COMPLETED; FAIL: it is rolled back; INCONCLUSIVE: once more, then a person decides. Of a job that is not waiting for it, it answers the last verdict.
-- Answers [{job_id, audit_id, verdict, status} or a refusal], in order.
-- Callers: writ_applier
create or replace function writ.fn_governance_audits(p_items jsonb, p_actor text) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  v_now timestamptz := writ.now(); v_ids uuid[] := array(select distinct (x ->> 'job')::uuid from jsonb_array_elements(p_items) x); i record; v record; v_done jsonb[] := '{}';
begin
  perform from writ_data.contract c where c.contract_id in (select g.contract_id from writ_data.governance_job g where g.job_id = any (v_ids)) order by c.contract_id for no key update;
  perform from writ_data.governance_job g where g.job_id = any (v_ids) order by g.job_id for no key update;
  for i in
    select distinct on (g.job_id) g, c, coalesce(x.item -> 'evidence', '{}') as evidence, coalesce(x.item -> 'read', '{}') as read from jsonb_array_elements(p_items) x(item) join writ_data.governance_job g on g.job_id = (x.item ->> 'job')::uuid join writ_data.contract c on c.contract_id = g.contract_id
    where g.status = 'AUDIT_PENDING' and g.audits < 2 order by g.job_id
  loop
    v_done := v_done || writ_data.audit_of(i.g, i.c, i.evidence, i.read, v_now);
  end loop;
  for v in
    select x ->> 'verdict' as verdict, array_agg((x ->> 'job')::uuid) as jobs, array_agg(x ->> 'reason') as reasons, array_agg(x -> 'checks') as checks, array_agg(x -> 'evidence') as evidence, array_agg(x -> 'health') as health from unnest(v_done) x group by 1 order by 1
  loop
    perform writ_data.settle_audits(v.jobs, v.verdict, v.reasons, v.checks, v.evidence, v.health, null, p_actor, v_now, writ.now());
  end loop;
  return (select jsonb_agg(case when g.job_id is null then writ_data.refusal('job_not_found', x.item ->> 'job') else jsonb_build_object('job_id', g.job_id, 'audit_id', g.audit_id, 'verdict', g.audit_verdict, 'status', g.status) end order by x.n)
    from jsonb_array_elements(p_items) with ordinality x(item, n) left join writ_data.governance_job g on g.job_id = (x.item ->> 'job')::uuid);
end $$;
