-- The body of fn_governance_audits. If it raises, the gate tries again item by item.
create or replace function writ_data.audit_items(p_items jsonb, p_actor text) returns jsonb
language plpgsql
as $$
declare
  v_now timestamptz;
  v_tenant text := writ_data.caller_tenant();
  i record;
  v record;
  v_done jsonb[] := '{}'::jsonb[];

  -- The items, as parallel arrays.
  v_jobs uuid[];           -- of the queue
  v_tokens uuid[];
  v_reads jsonb[];
  v_touched jsonb[];
  v_ids uuid[];            -- governance jobs
  v_faults text[];
  v_finished uuid[];
begin
  perform from writ_data.job_lease l
  where l.lease_token in (
    select writ_data.uuid_in(x, 'token') from jsonb_array_elements(p_items) x
  )
  order by l.lease_token
  for key share;

  select
    array_agg(u.job order by x.n), array_agg(u.token order by x.n),
    array_agg(coalesce(x.item -> 'read', '{}') order by x.n),
    array_agg(coalesce(x.item -> 'touched', '{}') order by x.n),
    array_agg(writ_data.uuid_in(j.input::jsonb, 'job') order by x.n)
  into v_jobs, v_tokens, v_reads, v_touched, v_ids
  from jsonb_array_elements(p_items) with ordinality x(item, n)
  cross join lateral (
    select writ_data.uuid_in(x.item, 'job') as job, writ_data.uuid_in(x.item, 'token') as token
  ) u
  -- By the key, one by one, as in apply_items.
  left join lateral (
    select y.input from writ_data.job y
    where y.job_id = u.job and y.job_kind = 'governance.audit'
      and coalesce(v_tenant, y.tenant_id) = y.tenant_id
    offset 0
  ) j on true;

  perform from writ_data.contract c
  where c.contract_id in (
    select g.contract_id from writ_data.governance_job g where g.job_id = any (v_ids)
  )
  order by c.contract_id
  for no key update;
  perform from writ_data.governance_job g
  where g.job_id = any (v_ids)
  order by g.job_id
  for no key update;
  v_now := writ.now();

  -- Under the locks: a repeated call finds that it was done.
  select
    array_agg(case
      when v_ids[n] is null then 'job_not_found'
      else writ_data.lease_fault(v_jobs[n], v_tokens[n])
    end order by n)
  into v_faults
  from generate_subscripts(v_jobs, 1) n;

  for i in
    select distinct on (g.job_id) g, c, v_reads[n] as read, v_touched[n] as touched
    from generate_subscripts(v_jobs, 1) n
    join writ_data.governance_job g on g.job_id = v_ids[n]
    join writ_data.contract c on c.contract_id = g.contract_id
    where v_faults[n] is null and g.status = 'AUDIT_PENDING' and g.audits < 2
    order by g.job_id
  loop
    v_done := v_done || writ_data.audit_of(i.g, i.c, i.read, i.touched, v_now);
  end loop;
  for v in
    select
      x ->> 'verdict' as verdict, array_agg((x ->> 'job')::uuid) as jobs,
      array_agg(x ->> 'reason') as reasons, array_agg(x -> 'checks') as checks,
      array_agg(x -> 'evidence') as evidence, array_agg(x -> 'health') as health
    from unnest(v_done) x
    group by 1
    order by 1
  loop
    perform writ_data.settle_audits(
      v.jobs, v.verdict, v.reasons, v.checks, v.evidence, v.health, null, p_actor, v_now,
      writ.now()
    );
  end loop;

  select array_agg(v_jobs[n] order by n)
  into v_finished
  from generate_subscripts(v_jobs, 1) n
  where v_faults[n] is null;
  if v_finished is not null then
    perform writ_data.commit_leased(
      v_finished,
      array(
        select v_tokens[n] from generate_subscripts(v_jobs, 1) n
        where v_faults[n] is null order by n
      ),
      array_fill(null::text, array[cardinality(v_finished)]),
      v_now
    );
    perform writ_data.record(
      'fn_governance_audits', p_actor, v_now, v_finished, array['dot.job.committed'], array[1],
      array[cardinality(v_finished)]
    );
  end if;

  return (
    select jsonb_agg(
      case
        when v_faults[n] is not null and v_faults[n] <> 'already_committed'
          then writ_data.refusal(v_faults[n], v_jobs[n]::text)
        when g.job_id is null then writ_data.refusal('job_not_found', v_jobs[n]::text)
        else jsonb_build_object(
          'job_id', g.job_id, 'audit_id', g.audit_id, 'verdict', g.audit_verdict,
          'status', g.status
        )
      end order by n
    )
    from generate_subscripts(v_jobs, 1) n
    left join writ_data.governance_job g on g.job_id = v_ids[n]
  );
end $$;
