-- Raises an alert for each tenant in which too many contracts wait for a decision, signatures wait
-- for an applier for a minute, governance jobs or audits take too long, or too many rollbacks were
-- needed, and clears it when that is over. The time of a soak that has begun does not count against
-- its job; what waits for a person's verdict is no late audit. Answers how many alerts it raised or
-- cleared.
create or replace function writ_data.alert_delays(
  p_tenant text,  -- null: all
  p_actor text,
  p_at timestamptz
) returns integer
language plpgsql
as $$
declare
  v_pending integer := (writ_data.setting('governance.alert.pending'))::integer;
  v_job interval := (writ_data.setting('governance.alert.job_sec'))::double precision
    * interval '1 second';
  v_audit interval := (writ_data.setting('governance.alert.audit_sec'))::double precision
    * interval '1 second';
  a record;
  v_moved integer := 0;
begin
  for a in
    with over as (
      select 'CONTRACTS_PENDING' as code, 'P3' as severity, c.tenant_id,
        jsonb_build_object('contracts', count(*)) as detail
      from writ_data.contract c
      where c.status in ('DRAFT', 'VALIDATED', 'ELIGIBLE')
        and coalesce(p_tenant, c.tenant_id) = c.tenant_id
      group by c.tenant_id
      having count(*) > v_pending
      union all
      -- No applier that knows the signer's key has looked at it.
      select 'SIGNATURES_WAITING', 'P2', c.tenant_id,
        jsonb_build_object(
          'contracts', count(distinct c.contract_id), 'first', min(c.contract_id::text)
        )
      from writ_data.contract c
      join writ_data.contract_review r
        on r.contract_id = c.contract_id and r.action = 'APPROVE' and r.hash = c.approval_hash
      where c.status = 'ELIGIBLE' and coalesce(p_tenant, c.tenant_id) = c.tenant_id
        and r.at < p_at - interval '60 seconds'
        and not exists (
          select from writ_data.contract_verdict v
          where v.contract_id = r.contract_id and v.review_no = r.review_no
        )
      group by c.tenant_id
      union all
      select 'GOVERNANCE_JOB_SLOW', 'P2', g.tenant_id,
        jsonb_build_object('jobs', count(*), 'first', min(g.job_id::text))
      from writ_data.governance_job g
      where g.status in ('PENDING', 'RUNNING') and coalesce(p_tenant, g.tenant_id) = g.tenant_id
        and p_at > g.created_at + v_job
        and p_at > g.created_at + v_job + (
          select writ_data.soak_ms(coalesce(jsonb_agg(to_jsonb(s)), '[]'))
            * interval '1 millisecond'
          from writ_data.governance_step s
          where s.job_id = g.job_id
        )
      group by g.tenant_id
      union all
      select 'AUDIT_SLOW', 'P2', g.tenant_id,
        jsonb_build_object('audits', count(*), 'first', min(g.job_id::text))
      from writ_data.governance_job g
      where g.status = 'AUDIT_PENDING' and g.audits < 2 and p_at > g.updated_at + v_audit
        and coalesce(p_tenant, g.tenant_id) = g.tenant_id
      group by g.tenant_id
      union all
      -- fail_governance_job raises it.
      select x.code, x.severity, x.tenant_id, x.detail
      from writ_data.alert x
      where x.code = 'ROLLBACKS_MANY' and x.cleared_at is null
        and coalesce(p_tenant, x.tenant_id) = x.tenant_id
        and (
          select count(*) from writ_data.governance_job g
          where g.tenant_id = x.tenant_id and g.kind = 'rollback'
            and g.created_at > p_at - interval '1 hour'
        ) > 5
    ), stands as (
      select x.code, x.tenant_id, x.subject
      from writ_data.alert x
      where x.cleared_at is null and coalesce(p_tenant, x.tenant_id) = x.tenant_id
        and x.code in (
          'CONTRACTS_PENDING', 'SIGNATURES_WAITING', 'GOVERNANCE_JOB_SLOW', 'AUDIT_SLOW',
          'ROLLBACKS_MANY'
        )
    )
    select
      coalesce(o.code, s.code) as code, coalesce(o.tenant_id, s.tenant_id) as tenant_id,
      o.severity, o.detail
    from over o
    full join stands s on s.code = o.code and s.tenant_id = o.tenant_id
    where o.code is null or s.code is null
    order by 1, 2
  loop
    if a.severity is null then
      perform writ_data.clear_alert(a.code, 'tenant/' || a.tenant_id, p_actor, p_at);
    else
      perform writ_data.raise_alert(
        a.code, a.severity, a.tenant_id, 'tenant/' || a.tenant_id, a.detail, p_actor, p_at
      );
    end if;
    v_moved := v_moved + 1;
  end loop;
  return v_moved;
end $$;
