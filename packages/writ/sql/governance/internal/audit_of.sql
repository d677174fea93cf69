-- Audits one governance job: health now, the checks, and the verdict that follows from them.
-- For probes that workers query, only answers after the steps count.
-- Answers {job, verdict, reason, checks, evidence, health}.
create or replace function writ_data.audit_of(
  g writ_data.governance_job,
  c writ_data.contract,
  p_read jsonb,
  p_touched jsonb,
  p_at timestamptz
) returns jsonb
language plpgsql stable
as $$
declare
  v_health jsonb;
  v_checks jsonb;
  v_verdict text;
  v_reason text;
begin
  select coalesce(jsonb_object_agg(h.capability, h.status), '{}')
  into v_health
  from jsonb_object_keys(g.health_before) u(name)
  cross join lateral writ_data.health_of(
    c.tenant_id, p_only => u.name,
    -- A job that ran while the clock was ahead has ended later than any answer is given.
    p_since => case when g.completed_at <= p_at then g.completed_at end
  ) h;

  -- Details are cut: they stand in a receipt.
  select
    jsonb_agg(x.c || jsonb_build_object('detail', left(x.c ->> 'detail', 1000)) order by x.n),
    case
      when bool_or(x.c ->> 'result' = 'FAIL') then 'FAIL'
      when bool_or(x.c ->> 'result' = 'INCONCLUSIVE') then 'INCONCLUSIVE'
      else 'PASS'
    end,
    string_agg(format('%s: %s', x.c ->> 'check', x.c ->> 'detail'), '; ')
      filter (where x.c ->> 'result' <> 'PASS')
  into v_checks, v_verdict, v_reason
  from jsonb_array_elements(
    writ_data.audit_checks(g, c, v_health, p_read, p_touched, p_at)
  ) with ordinality x(c, n);

  return jsonb_build_object(
    'job', g.job_id, 'verdict', v_verdict, 'reason', coalesce(v_reason, 'all checks passed'),
    'checks', v_checks, 'health', v_health,
    'evidence', writ_data.evidence_of(
      c.tenant_id, array(select jsonb_object_keys(g.health_before))
    )
  );
end $$;
