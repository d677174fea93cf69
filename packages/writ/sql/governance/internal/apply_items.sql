-- The body of fn_changes_apply. Does or refuses each item, then writes the rows of all done items
-- at once. If that write raises, the gate tries again item by item.
create or replace function writ_data.apply_items(p_items jsonb, p_actor text) returns jsonb
language plpgsql
as $$
declare
  v_now timestamptz;
  v_tenant text := writ_data.caller_tenant();
  i record;
  v_steps jsonb[];
  v_code text;
  v_detail text;
  v_step text;             -- the number of the step that was refused
  v_answers jsonb[] := array_fill(null::jsonb, array[jsonb_array_length(p_items)]);

  -- What was done, as parallel arrays.
  v_made jsonb[] := '{}'::jsonb[];
  v_jobs uuid[] := '{}'::uuid[];
  v_tokens uuid[] := '{}'::uuid[];
  v_results text[] := '{}'::text[];

  -- What is recorded.
  v_attempts smallint[];
  v_applied uuid[];
  v_reverted uuid[];
  v_each jsonb;
  v_a integer;
  v_r integer;
begin
  -- As fn_job_commit does, so that the reaper takes no lease before this transaction ends.
  perform from writ_data.job_lease l
  where l.lease_token in (
    select writ_data.uuid_in(x, 'token') from jsonb_array_elements(p_items) x
  )
  order by l.lease_token
  for key share;
  v_now := writ.now();

  for i in
    select
      x.n::integer as n, u.job, u.token, coalesce(x.item -> 'read', '{}') as read,
      writ_data.trust_in(x.item) as trust, j.run_id, s.first, s.last
    from jsonb_array_elements(p_items) with ordinality x(item, n)
    cross join lateral (
      select writ_data.uuid_in(x.item, 'job') as job, writ_data.uuid_in(x.item, 'token') as token
    ) u
    -- Each item looks its job up by the key. A join would read all jobs for each item where the
    -- planner takes the table for empty.
    left join lateral (
      select y.run_id, y.step_no from writ_data.job y
      where y.job_id = u.job and coalesce(v_tenant, y.tenant_id) = y.tenant_id
      offset 0
    ) j on true
    left join lateral (
      select y.plan_no from writ_data.run y where y.run_id = j.run_id offset 0
    ) r on true
    left join writ_data.plan_step t on t.plan_no = r.plan_no and t.step_no = j.step_no
    left join lateral writ_data.steps_of(t.step_id) s on true
    order by j.run_id
  loop
    begin
      -- A rollback that fails at its end moves its contract, whose lock comes first.
      perform from writ_data.contract c
      where c.contract_id = (
        select g.contract_id from writ_data.governance_job g
        where g.run_id = i.run_id and g.kind = 'rollback'
      )
      for no key update;
      -- A repeated call waits here, and finds that the step is done.
      perform from writ_data.governance_job g where g.run_id = i.run_id for no key update;
      v_code := writ_data.lease_fault(i.job, i.token);
      if v_code is not null then
        raise exception using errcode = 'WR001', message = v_code,
          detail = format('Job %s of the queue.', i.job);
      end if;
      v_steps := writ_data.apply_changes(
        i.run_id, i.first, i.last, i.read, i.trust, p_actor, v_now
      );
      v_answers[i.n] := jsonb_build_object(
        'done', (select jsonb_agg(s -> 'done') from unnest(v_steps) s)
      );
      v_made := v_made || v_steps;
      v_jobs := v_jobs || i.job;
      v_tokens := v_tokens || i.token;
      v_results := v_results || (v_answers[i.n] ->> 'done');
    exception
      when sqlstate 'WR001' then
        get stacked diagnostics
          v_code = message_text, v_detail = pg_exception_detail, v_step = column_name;
        update writ_data.governance_job g
        set refused_step = nullif(v_step, '')::integer, refusal = left(v_detail, 1000)
        where g.run_id = i.run_id and i.first < i.last and g.status in ('PENDING', 'RUNNING')
          and v_code not in ('lease_lost', 'job_not_started', 'already_committed');
        v_answers[i.n] := case
          when v_code = 'already_committed' and exists (
            select from writ_data.job_execution e
            where e.job_id = i.job and e.lease_token = i.token
              and e.status in ('COMMITTED', 'DONE')
          ) then '{"done": []}'::jsonb
          else jsonb_build_object('reason', v_code, 'detail', v_detail)
        end;
      when integrity_constraint_violation or data_exception then
        -- The target's own constraints reject the value, so a retry cannot help.
        v_answers[i.n] := jsonb_build_object(
          'reason', 'invalid_contract', 'detail', left(sqlerrm, 1000)
        );
    end;
  end loop;
  if v_jobs = '{}' then
    return to_jsonb(v_answers);
  end if;

  v_attempts := writ_data.commit_leased(v_jobs, v_tokens, v_results, v_now);
  perform writ_data.changes_made(v_made, p_actor, v_now);

  select
    array_agg(x.job) filter (where not x.undo),
    array_agg(x.job) filter (where x.undo and x.steps is not null),
    jsonb_object_agg(x.job, jsonb_build_object('steps', x.steps))
  into v_applied, v_reverted, v_each
  from (
    select
      (m ->> 'job')::uuid as job,
      bool_or(m ? 'of_step') as undo,
      jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
        'step', m -> 'step', 'of_step', m -> 'of_step', 'step_type', m -> 'step_type',
        'target', m -> 'target'
      )) order by n) filter (where m ->> 'error' is null) as steps
    from unnest(v_made) with ordinality u(m, n)
    group by 1
  ) x;
  v_a := coalesce(cardinality(v_applied), 0);
  v_r := coalesce(cardinality(v_reverted), 0);
  perform writ_data.record(
    'fn_changes_apply', p_actor, v_now,
    coalesce(v_applied, '{}') || coalesce(v_reverted, '{}') || v_jobs,
    '{governance.change_applied,governance.change_reverted,dot.job.committed}',
    array[1, v_a + 1, v_a + v_r + 1],
    array[v_a, v_a + v_r, v_a + v_r + cardinality(v_jobs)],
    jsonb_build_object('each', v_each)
  );
  perform from writ_data.steps_ended(
    v_jobs, v_results, v_attempts, 'fn_changes_apply', p_actor, v_now
  );
  return to_jsonb(v_answers);
end $$;
