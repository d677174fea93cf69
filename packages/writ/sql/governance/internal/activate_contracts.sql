-- Makes approved contracts active: takes their holds, and makes the one forward job of each.
-- Answers the job or the refusal of each, in order. A contract whose steps, approval or pre-state
-- no longer hold becomes FAILED, and a new draft replaces it. A freeze, a hold or a window that is
-- too short leaves it APPROVED.
-- The caller has locked the contracts, and chosen the ids of the jobs.
create or replace function writ_data.activate_contracts(
  p_contracts uuid[],
  p_jobs uuid[],
  p_actor text,
  p_at timestamptz
) returns jsonb[]
language plpgsql
as $$
declare
  c writ_data.contract;
  v_wrong record;
  v_frozen text;
  v_state jsonb;
  v_void text;
  v_new uuid;
  v_held text[];
  s record;
  v_answers jsonb[] := array_fill(null::jsonb, array[cardinality(p_contracts)]);

  -- Of those that can be activated.
  v_steps jsonb[] := array_fill(null::jsonb, array[cardinality(p_contracts)]);
  v_states bytea[] := array_fill(null::bytea, array[cardinality(p_contracts)]);
begin
  -- Check each contract.

  for n in 1 .. cardinality(p_contracts) loop
    select * into c from writ_data.contract where contract_id = p_contracts[n];
    v_frozen := coalesce(
      (
        select f.reason from writ_data.freeze f
        where f.tenant_id = c.tenant_id and f.lifted_at is null
          and p_at >= f.begins_at and p_at < f.ends_at
        limit 1
      ),
      writ_data.frozen_by(
        c.tenant_id, array(select x.target from writ_data.slots(c.steps) x)
      )
    );
    if v_frozen is not null and c.glass_broken is null then
      v_answers[n] := writ_data.refusal('changes_frozen', v_frozen);
      continue;
    end if;

    v_state := writ_data.state_of(c.tenant_id, c.steps, writ_data.values_read(c));
    v_wrong := writ_data.wrong_with(c.tenant_id, c.scope, c.steps, c.template, c.constraints);
    v_void := coalesce(v_wrong.code, writ_data.approved_still(c));
    if v_void is null and v_state is distinct from c.pre_state::jsonb then
      if not v_state ?& array(select jsonb_object_keys(c.pre_state::jsonb)) then
        v_answers[n] := writ_data.refusal(
          'target_not_read', writ_data.unread_slots(c, v_state)
        );
        continue;
      end if;
      v_void := 'stale_pre_value';
    end if;

    if v_void is not null and c.glass_broken is not null then
      v_answers[n] := writ_data.refusal(
        v_void, coalesce(v_wrong.detail, 'The glass is whole: nothing was done.')
      );
    elsif v_void is not null then
      v_new := writ_data.void_contract(c.contract_id, v_void, p_actor, p_at);
      v_answers[n] := writ_data.refusal(
        v_void,
        format('Contract %s has failed; %s is a draft in its place.', c.contract_id, v_new)
      ) || jsonb_build_object('contract_id', v_new);
    elsif p_at + writ_data.soak_ms(c.steps) * interval '1 millisecond' > c.window_end then
      v_answers[n] := writ_data.refusal('window_too_short', format(
        'Its soaks last %s ms, and its window ends %s.', writ_data.soak_ms(c.steps), c.window_end
      ));
    else
      v_steps[n] := c.steps;
      v_states[n] := writ_data.state_hash(v_state);
    end if;
  end loop;

  -- A call that gives a scope another owner, or loosens the health of a capability, waits for this
  -- activation or comes before it.

  perform from writ_data.configuration_scope o
  where (o.tenant_id, o.scope) in (
    select x.tenant_id, t.target
    from unnest(p_contracts, v_steps) u(id, steps)
    join writ_data.contract x on x.contract_id = u.id
    cross join lateral writ_data.slots(u.steps) t
    where u.steps is not null
  )
  order by o.tenant_id, o.scope
  for key share;
  perform from writ_data.capability a
  where (a.tenant_id, a.capability_name) in (
    select x.tenant_id, coalesce(o.owner_capability, t.target)
    from unnest(p_contracts, v_steps) u(id, steps)
    join writ_data.contract x on x.contract_id = u.id
    cross join lateral writ_data.slots(u.steps) t
    left join writ_data.configuration_scope o
      on o.tenant_id = x.tenant_id and o.scope = t.target
    where u.steps is not null
  )
  order by a.tenant_id, a.capability_name
  for key share;

  -- Take all holds of a contract or none, in an order that prevents deadlocks.

  insert into writ_data.target_hold (tenant_id, target, contract_id, taken_at)
  select distinct x.tenant_id, t.target, x.contract_id, p_at
  from unnest(p_contracts, v_steps) u(id, steps)
  join writ_data.contract x on x.contract_id = u.id
  cross join lateral writ_data.slots(u.steps) t
  where u.steps is not null
  order by 1, 2, 3
  on conflict do nothing;

  select array_agg(y.held order by y.n)
  into v_held
  from (
    select u.n, (
      select string_agg(distinct t.target, ', ')
      from writ_data.slots(u.steps) t
      join writ_data.contract x on x.contract_id = u.id
      where not exists (
        select from writ_data.target_hold h
        where h.tenant_id = x.tenant_id and h.target = t.target and h.contract_id = u.id
      )
    ) as held
    from unnest(p_contracts, v_steps) with ordinality u(id, steps, n)
  ) y;
  for n in 1 .. cardinality(p_contracts) loop
    if v_held[n] is not null then
      delete from writ_data.target_hold where contract_id = p_contracts[n];
      v_answers[n] := writ_data.refusal('target_held', v_held[n]);
    end if;
  end loop;

  -- Make the jobs.

  select
    array_agg(u.id) as ids, array_agg(u.job) as jobs, array_agg(u.steps) as steps,
    array_agg(u.state) as states
  into s
  from unnest(p_contracts, p_jobs, v_steps, v_states, v_answers) u(id, job, steps, state, answer)
  where u.answer is null;
  if s.ids is not null then
    perform writ_data.start_governance_jobs(
      s.jobs, s.ids, 'forward', array_fill(null::uuid, array[cardinality(s.ids)]), s.steps,
      s.states, 'contract_activated', null, p_actor, p_at
    );
    perform writ_data.move_contracts(
      s.ids, 'ACTIVE', array(select 'job ' || j from unnest(s.jobs) j), p_actor, p_at, s.jobs
    );
    select
      array_agg(
        coalesce(u.answer, jsonb_build_object(
          'contract_id', u.id, 'job_id', u.job, 'run_id', g.run_id
        )) order by u.n
      )
    into v_answers
    from unnest(p_contracts, p_jobs, v_answers) with ordinality u(id, job, answer, n)
    left join writ_data.governance_job g on g.job_id = u.job and u.answer is null;
  end if;
  return v_answers;
end $$;
