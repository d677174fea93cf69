-- Stores an applier's verdicts and commits the jobs that asked for them: the body of
-- fn_signatures_verified, which has checked the list.
-- Answers: as that gate does.
-- Locks:   as that gate does.
create or replace function writ_data.store_verdicts(p_items jsonb, p_actor text) returns jsonb
language plpgsql
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_now timestamptz;
  v_tenant text := writ_data.caller_tenant();
  i record;
  v record;
  v_code text;
  v_answers jsonb[];
  v_jobs uuid[] := '{}'::uuid[];
  v_tokens uuid[] := '{}'::uuid[];
begin
  v_answers := array_fill(null::jsonb, array[jsonb_array_length(p_items)]);

  perform from writ_data.job_lease l
  where l.lease_token in (
    select writ_data.uuid_in(x, 'token') from jsonb_array_elements(p_items) x
  )
  order by l.lease_token
  for key share;
  perform from writ_data.contract c
  where c.contract_id in (
    select writ_data.uuid_in(j.input::jsonb, 'contract')
    from jsonb_array_elements(p_items) x
    join writ_data.job j on j.job_id = writ_data.uuid_in(x, 'job')
    where j.job_kind = 'governance.verify' and coalesce(v_tenant, j.tenant_id) = j.tenant_id
  )
  order by c.contract_id
  for no key update;
  v_now := writ.now();

  for i in
    select
      x.n::integer as n, u.job, u.token, writ_data.trust_in(x.item) as trust,
      coalesce(x.item -> 'verdicts', '[]') as verdicts,
      case when x.item ->> 'quorum' ~ '^[0-9]{1,4}$' then (x.item ->> 'quorum')::integer
        else 1 end as quorum,
      coalesce(x.item -> 'open' = 'true', false) as open, c.contract_id, c.status
    from jsonb_array_elements(p_items) with ordinality x(item, n)
    cross join lateral (
      select writ_data.uuid_in(x.item, 'job') as job, writ_data.uuid_in(x.item, 'token') as token
    ) u
    left join lateral (
      select y.input::jsonb as input
      from writ_data.job y
      where y.job_id = u.job and y.job_kind = 'governance.verify'
        and coalesce(v_tenant, y.tenant_id) = y.tenant_id
      offset 0
    ) j on true
    left join writ_data.contract c on c.contract_id = writ_data.uuid_in(j.input, 'contract')
    order by c.contract_id, x.n
  loop
    v_code := case
      when i.contract_id is null then 'job_not_found'
      when i.trust is null or jsonb_typeof(i.verdicts) <> 'array'
        or jsonb_array_length(i.verdicts) > 1000 then 'invalid_argument'
      else writ_data.lease_fault(i.job, i.token)
    end;
    if v_code = 'already_committed' then
      v_answers[i.n] := jsonb_build_object('contract_id', i.contract_id, 'status', i.status);
      continue;
    elsif v_code is not null then
      v_answers[i.n] := jsonb_build_object('reason', v_code, 'detail', i.job);
      continue;
    end if;

    for v in
      insert into writ_data.contract_verdict (contract_id, review_no, verdict, login, trust, at)
      select r.contract_id, r.review_no, x ->> 'verdict', session_user, i.trust, v_now
      from jsonb_array_elements(i.verdicts) x
      join writ_data.contract_review r
        on r.contract_id = i.contract_id and to_jsonb(r.review_no) = x -> 'review_no'
      where i.status = 'ELIGIBLE' and r.action = 'APPROVE' and x ->> 'verdict' in ('valid', 'wrong')
      on conflict do nothing
      returning review_no, verdict
    loop
      continue when v.verdict = 'valid';
      perform writ_data.contract_receipt(
        i.contract_id, 'refuse', 'signature_refused',
        (
          select jsonb_build_object(
            'by', r.by, 'approval_hash', encode(r.hash, 'hex'),
            'signature', encode(r.signature, 'hex'), 'public_key', encode(r.public_key, 'hex'),
            'trust', i.trust, 'login', session_user,
            'why', (
              select left(x ->> 'why', 100)
              from jsonb_array_elements(i.verdicts) x
              where x -> 'review_no' = to_jsonb(v.review_no)
              limit 1
            )
          )
          from writ_data.contract_review r
          where r.contract_id = i.contract_id and r.review_no = v.review_no
        ),
        v_now
      );
    end loop;
    -- A document that only wrong signatures are of does not hold the place of the next one.
    update writ_data.contract x
    set approval_hash = null, pre_state = null
    where x.contract_id = i.contract_id and x.status = 'ELIGIBLE' and x.approval_hash is not null
      and not exists (
        select from writ_data.contract_review r
        left join writ_data.contract_verdict y
          on y.contract_id = r.contract_id and y.review_no = r.review_no
        where r.contract_id = x.contract_id and r.action = 'APPROVE' and r.hash = x.approval_hash
          and y.verdict is distinct from 'wrong'
      );
    perform writ_data.approve_verified(i.contract_id, i.quorum, i.trust, p_actor, v_now);
    if not i.open then
      v_jobs := v_jobs || i.job;
      v_tokens := v_tokens || i.token;
    end if;
    v_answers[i.n] := (
      select jsonb_build_object('contract_id', i.contract_id, 'status', x.status)
      from writ_data.contract x
      where x.contract_id = i.contract_id
    );
  end loop;

  if v_jobs <> '{}' then
    perform writ_data.commit_leased(
      v_jobs, v_tokens, array_fill(null::text, array[cardinality(v_jobs)]), v_now
    );
    perform writ_data.record(
      'fn_signatures_verified', p_actor, v_now, v_jobs, array['dot.job.committed'], array[1],
      array[cardinality(v_jobs)]
    );
  end if;
  return to_jsonb(v_answers);
end $$;
