-- Begins a step that takes time or happens outside the database. Checks everything that was
-- approved again, and stores how to undo the step before its effect happens.
-- Callers: writ_applier
-- p_found: {slot: value}, the current values. Each must be the approved value, or the value that
--          the steps before this one wrote. For a soak: {watched_ms}, how long the caller has
--          watched since its last call, by a clock that never jumps.
-- Answers: {began_at, now, found, undo}. For a step of a rollback also {applied, step}: the values
--          that the original step wrote, and that step. For a soak also {watched_ms}, the sum.
--          A repeated call answers the first began_at; of a soak it looks at health again and adds
--          up the time, at most as much as has passed here since the last call, and one minute.
-- Refuses: lease_lost, job_not_started, already_committed, job_not_found, pre_value_conflict, and
--          every reason that forbids the step (steps_allowed).
-- Locks:   the lease in key-share mode, then the governance job.
create or replace function writ.fn_change_begin(
  p_job_id uuid,
  p_lease_token uuid,
  p_found jsonb,
  p_actor text
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
  v_now timestamptz;
  v_tenant text := writ_data.caller_tenant();
  v_run uuid;
  v_step_no integer;
  g writ_data.governance_job;
  c writ_data.contract;
  b writ_data.governance_step;
  v_step jsonb;
  z record;
  v_expected jsonb;
  v_watched bigint;    -- since the last look at a soak
  v_code text;
  v_detail text;
begin
  if length(coalesce(btrim(p_actor), '')) not between 1 and 200 then
    return writ_data.refusal('actor_required', 'An actor has 1 to 200 characters.');
  end if;

  perform from writ_data.job_lease l where l.lease_token = p_lease_token for key share;
  select j.run_id, (writ_data.steps_of(s.step_id)).first
  into v_run, v_step_no
  from writ_data.job j
  join writ_data.run r on r.run_id = j.run_id
  join writ_data.plan_step s on s.plan_no = r.plan_no and s.step_no = j.step_no
  where j.job_id = p_job_id and coalesce(v_tenant, j.tenant_id) = j.tenant_id;
  select * into g from writ_data.governance_job where run_id = v_run for no key update;
  v_code := writ_data.lease_fault(p_job_id, p_lease_token);
  if v_code is not null then
    return writ_data.refusal(v_code);
  elsif g.job_id is null then
    return writ_data.refusal('job_not_found', 'The queue job is no step of a governance job.');
  end if;
  v_now := writ.now();
  select * into c from writ_data.contract where contract_id = g.contract_id;
  perform writ_data.may_go_on(g, c, v_now);

  if g.status = 'PENDING' then
    perform writ_data.move_governance_job(
      g.job_id, array['RUNNING'], 'run_started', null, p_actor, v_now
    );
  end if;

  -- An undo follows from the kind of the governance job.
  if g.kind = 'rollback' then
    select x.* into b
    from writ_data.governance_step x
    join writ_data.run r on r.run_id = g.run_id
    where x.job_id = g.of_job_id
      and x.step_no = (r.input #>> array['steps', (v_step_no - 1)::text, 'undo_of'])::integer;
    return jsonb_build_object(
      'began_at', v_now, 'now', v_now, 'found', b.found, 'applied', b.applied, 'undo', true,
      'step', c.steps -> (b.step_no - 1)
    );
  end if;

  v_step := c.steps -> (v_step_no - 1);
  select * into b
  from writ_data.governance_step x
  where x.job_id = g.job_id and x.step_no = v_step_no;
  if found and v_step ->> 'step_type' = 'soak' then
    select x.block into v_detail
    from (
      select y.step_no, writ_data.health_block(c.tenant_id, y.target, null) as block
      from writ_data.slots(c.steps) y
    ) x
    where x.block is not null
    order by x.step_no limit 1;
    if v_detail is not null then
      raise exception using errcode = 'WR001', message = 'health_block', detail = v_detail;
    end if;
    v_watched := case when p_found ->> 'watched_ms' ~ '^[0-9]{1,9}$'
      then least((p_found ->> 'watched_ms')::bigint, 60000) else 0 end;
    update writ_data.governance_step x
    set
      watched_ms = x.watched_ms + least(
        v_watched, greatest(0, trunc(extract(epoch from v_now - x.looked_at) * 1000))
      ),
      looked_at = v_now
    where x.job_id = g.job_id and x.step_no = v_step_no
    returning * into b;
  elsif b.job_id is null then
    perform writ_data.steps_allowed(g, c, v_step_no, v_step_no);
    select * into z from writ_data.slots(c.steps) x where x.step_no = v_step_no;
    if z.slot is not null then
      v_expected := coalesce(
        (
          select x.applied -> z.slot
          from writ_data.governance_step x
          where x.job_id = g.job_id and x.step_no < v_step_no and x.applied ? z.slot
          order by x.step_no desc limit 1
        ),
        c.pre_state::jsonb -> z.slot
      );
      if p_found -> z.slot is distinct from v_expected then
        return writ_data.refusal('pre_value_conflict', format(
          '%s is not what it was when it was approved, or what the steps before have made of it.',
          z.slot
        ));
      end if;
    end if;
    insert into writ_data.governance_step (
      job_id, step_no, step_type, target, parameters, found, rollback_action, evidence, began_at,
      looked_at
    ) values (
      g.job_id, v_step_no, v_step ->> 'step_type', v_step ->> 'target', v_step -> 'parameters',
      case when z.slot is not null then jsonb_build_object(z.slot, p_found -> z.slot) end,
      case when z.slot is not null then jsonb_build_object(
        'type', v_step ->> 'step_type', 'target', v_step ->> 'target', 'restore', p_found -> z.slot
      ) end,
      writ_data.evidence_of(c.tenant_id, array[v_step ->> 'target']), v_now, v_now
    )
    returning * into b;
  end if;
  return jsonb_build_object(
    'began_at', b.began_at, 'now', v_now, 'found', b.found, 'undo', false,
    'watched_ms', b.watched_ms
  );
exception when sqlstate 'WR001' then
  get stacked diagnostics v_code = message_text, v_detail = pg_exception_detail;
  return writ_data.refusal(v_code, v_detail);
end $$;
