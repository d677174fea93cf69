-- Writes a verdict about governance jobs and draws its consequences. Reasons, checks, evidence and
-- health are per job. The caller has locked the contracts and the jobs, which await their audits.
create or replace function writ_data.settle_audits(
  p_jobs uuid[],
  p_verdict text,
  p_reasons text[],
  p_checks jsonb[],
  p_evidence jsonb[],
  p_health jsonb[],
  p_resolved_by text,
  p_actor text,
  p_started timestamptz,
  p_at timestamptz
) returns void
language plpgsql
as $$
declare
  g record;
  o writ_data.governance_job;
  v_entries text[];
  v_jobs uuid[];
  v_contracts uuid[];
  v_reasons text[];
  v_each jsonb;
begin
  with settled as materialized (
    select
      u.*,
      writ_data.uuidv7() as audit,
      j.run_id, j.contract_id, j.tenant_id, j.kind, j.health_before,
      j.audit_id as before,
      j.receipts + 1 as seq
    from unnest(p_jobs, p_reasons, p_checks, p_evidence, p_health)
      u(job, reason, checks, evidence, health)
    join writ_data.governance_job j on j.job_id = u.job
  ), audited as (
    insert into writ_data.governance_audit (
      audit_id, tenant_id, job_id, contract_id, verdict, verdict_reason, checks, evidence,
      health_before, health_after, auditor_version, duration_ms, supersedes, resolved_by, created_at
    )
    select
      s.audit, s.tenant_id, s.job, s.contract_id, p_verdict,
      left(s.reason, 2000),
      s.checks,
      coalesce(s.evidence, '{}'),
      s.health_before, s.health, '1',
      least(greatest(round(extract(epoch from p_at - p_started) * 1000), 0), 2147483647),
      s.before, p_resolved_by, p_at
    from settled s
  ), job as (
    update writ_data.governance_job j
    set
      audit_id = s.audit,
      audit_verdict = p_verdict,
      audits = j.audits + 1,
      due_at = null,
      receipts = s.seq
    from settled s
    where j.job_id = s.job
  ), contract as (
    update writ_data.contract c
    set audit_verdict = p_verdict, audit_reason = left(s.reason, 1000), audit_completed_at = p_at
    from settled s
    where c.contract_id = s.contract_id and s.kind = 'forward' and p_verdict <> 'PASS'
  )
  select
    array_agg(writ_data.governance_entry(
      s.tenant_id, concat('governance_job:', s.job), s.seq,
      case p_verdict when 'PASS' then 'accept' when 'FAIL' then 'refuse' else 'error' end,
      'audit_verdict',
      jsonb_build_object(
        'job_id', s.job,
        'contract_id', s.contract_id,
        'audit_id', s.audit,
        'verdict', p_verdict,
        'why', left(s.reason, 1000),
        'checks', s.checks::text,
        'by', coalesce(p_resolved_by, p_actor),
        'run_log_sha256', l.sha256
      ),
      p_at
    )),
    jsonb_object_agg(s.job, jsonb_build_object('audit_id', s.audit, 'verdict', p_verdict)),
    array_agg(s.job) filter (where s.kind = 'forward'),
    array_agg(s.contract_id) filter (where s.kind = 'forward'),
    array_agg(left(s.reason, 1000)) filter (where s.kind = 'forward')
  into v_entries, v_each, v_jobs, v_contracts, v_reasons
  from settled s
  cross join lateral (
    select encode(
      sha256(string_agg(
        convert_to(
          concat_ws('|', e.run_seq, e.event_type, e.step_id, e.logical_attempt, e.data::text),
          'UTF8'
        ),
        decode('0a', 'hex') order by e.run_seq
      )),
      'hex'
    ) as sha256
    from writ_data.run_event e
    where e.run_id = s.run_id
  ) l;

  perform writ_data.append_receipts(v_entries, p_at);
  perform writ_data.record(
    'fn_governance_audit', p_actor, p_at, p_jobs, array['governance.audited'], array[1],
    array[cardinality(p_jobs)], jsonb_build_object('each', v_each)
  );
  if p_verdict = 'PASS' and v_jobs is not null then
    perform writ_data.move_governance_jobs(
      v_jobs, array['COMPLETED'], 'verdict_pass', null, p_actor, p_at
    );
    perform writ_data.close_contracts(v_contracts, 'COMPLETED', v_reasons, p_actor, p_at);
  end if;

  -- Verdicts other than PASS, and rollbacks, one by one.
  for g in
    select j.*, u.reason
    from unnest(p_jobs, p_reasons) u(job, reason)
    join writ_data.governance_job j on j.job_id = u.job
    where p_verdict <> 'PASS' or j.kind <> 'forward'
    order by j.job_id
  loop
    if p_verdict = 'PASS' then
      perform writ_data.move_governance_job(
        g.job_id, array['COMPLETED'], 'verdict_pass', null, p_actor, p_at
      );
      select * into o from writ_data.governance_job where job_id = g.of_job_id for no key update;
      if o.status = 'ROLLBACK_PENDING' then
        update writ_data.governance_job set state_after = g.state_after where job_id = o.job_id;
        perform writ_data.move_governance_job(
          o.job_id, array['ROLLED_BACK'], 'rollback_completed', null, p_actor, p_at
        );
        perform writ_data.close_contracts(
          array[g.contract_id], 'FAILED',
          array['rolled back: ' || coalesce(o.rollback_reason, '')],
          p_actor, p_at
        );
      else
        -- A person had the rollback tried again after it had failed.
        delete from writ_data.target_hold where contract_id = g.contract_id;
      end if;
    elsif p_verdict = 'FAIL' then
      perform writ_data.fail_governance_job(
        g.job_id, 'verdict_fail', 'audit: ' || g.reason, p_actor, p_at
      );
    else
      perform writ_data.move_governance_job(
        g.job_id, array['AUDIT_PENDING'], 'verdict_inconclusive', g.reason, p_actor, p_at
      );
      if g.audits = 1 then
        perform writ_data.enqueue_governance(
          'governance.audit', array[g.job_id], g.tenant_id, p_actor
        );
      else
        perform writ_data.raise_alert(
          'AUDIT_INCONCLUSIVE', 'P2', g.tenant_id, 'governance_job/' || g.job_id,
          jsonb_build_object('reason', left(g.reason, 1000)),
          p_actor, p_at
        );
      end if;
    end if;
  end loop;
end $$;
