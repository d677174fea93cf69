-- Does steps of a rollback job together. Each restores the value that a step of the original job
-- found, if nothing else has changed it since. Inside the database, the gate compares the version
-- that the step wrote. Outside, the applier has compared, and p_read is the current value.
-- A target that was changed by another hand stays as it is. Its step has an error then, and the
-- steps after it restore theirs; after the last of them the rollback fails because of it.
-- When a person has a rollback tried again, values count instead of versions, because the person
-- wrote one: a target that holds what was found or what was approved to stand there before is
-- restored already.
-- Answers the rows that changes_made writes. Raises (WR001) the condition that fails.
-- The caller has locked the governance job, whose kind is rollback.
create or replace function writ_data.revert_changes(
  g writ_data.governance_job,
  c writ_data.contract,
  p_first integer,
  p_last integer,
  p_read jsonb,
  p_trust text,
  p_actor text,
  p_at timestamptz
) returns jsonb[]
language plpgsql
as $$
declare
  v_max_age interval := (writ_data.setting('governance.evidence_max_age_ms'))::integer
    * interval '1 millisecond';
  s record;
  w record;                     -- versions found and written (change_target)
  v_evidence jsonb;
  v_version bigint;
  v_restored jsonb;
  v_block text;
  v_retried boolean := (
    select o.rollback_job_id <> g.job_id
    from writ_data.governance_job o where o.job_id = g.of_job_id
  );
  v_now jsonb;                  -- what stands at a slot
  v_error text;
  v_reason text;                -- of the receipt
  v_written jsonb := '{}'::jsonb;      -- slot → the version that this call wrote last
  v_lost text[] := array(       -- slots that this job did not restore
    select z.slot
    from writ_data.governance_step x
    join writ_data.slots(c.steps) z on z.step_no = x.of_step_no
    where x.job_id = g.job_id and x.error is not null
  );
  v_made jsonb[] := '{}'::jsonb[];
begin
  if p_first is distinct from g.done_steps + 1 or p_last is null or p_last > g.total_steps then
    raise exception using errcode = 'WR001', message = 'step_out_of_order',
      detail = format('Step %s, after %s of %s.', p_first, g.done_steps, g.total_steps);
  end if;

  for s in
    select
      x.n::integer as n, (x.step ->> 'undo_of')::integer as of_step,
      o.step_type, o.target, o.found, o.applied, o.written_version, o.rollback_action,
      z.slot, z.key, h.target is not null as held
    from writ_data.run r
    cross join lateral jsonb_array_elements(r.input -> 'steps') with ordinality x(step, n)
    left join writ_data.governance_step o
      on o.job_id = g.of_job_id and o.step_no = (x.step ->> 'undo_of')::integer
    left join writ_data.slots(c.steps) z on z.step_no = o.step_no
    left join writ_data.target_hold h
      on h.tenant_id = c.tenant_id and h.target = o.target and h.contract_id = c.contract_id
    where r.run_id = g.run_id and x.n between p_first and p_last
    order by x.n
  loop
    if s.rollback_action is null then
      raise exception using errcode = 'WR001', message = 'rollback_conflict',
        detail = format('Step %s of job %s has nothing to undo.', s.of_step, g.of_job_id);
    elsif not s.held then
      raise exception using errcode = 'WR001', message = 'target_not_held', detail = s.target;
    end if;
    v_block := writ_data.health_block(c.tenant_id, s.target, v_max_age);
    if v_block is not null and writ_data.setting('governance.rollback.health_gate') = '"enforce"'
    then
      raise exception using errcode = 'WR001', message = 'health_block', detail = v_block;
    end if;
    v_evidence := writ_data.evidence_of(c.tenant_id, array[s.target]);
    select null::bigint as found_version, null::bigint as written_version into w;
    v_now := writ_data.state_of(
      c.tenant_id, jsonb_build_array(c.steps -> (s.of_step - 1)), p_read
    ) -> s.slot;
    v_error := null;

    if s.slot = any (v_lost) then
      v_error := format('%s was not restored by the step before.', s.slot);
    elsif s.step_type in ('capability_enable', 'capability_disable', 'config_update') then
      -- The version that this rollback has restored last, or one that was tried before.
      v_version := coalesce(
        (v_written ->> s.slot)::bigint,
        (
          select x.written_version
          from writ_data.governance_job y
          join writ_data.governance_step x on x.job_id = y.job_id
          where y.of_job_id = g.of_job_id and x.applied ? s.slot
          order by x.receipt_no desc limit 1
        ),
        s.written_version
      );
      if v_retried and not v_written ? s.slot
        and v_now in (s.found -> s.slot, c.pre_state::jsonb -> s.slot)
      then
        v_restored := jsonb_build_object(s.slot, v_now);
      else
        w := writ_data.change_target(
          c.tenant_id, s.step_type, s.target, s.key,
          case when v_retried then s.applied -> s.slot end,
          case when not v_retried then v_version end,
          s.found -> s.slot, p_actor, p_at
        );
        if w.as_expected then
          v_written := v_written || jsonb_build_object(s.slot, w.written_version);
          v_restored := jsonb_build_object(s.slot, s.found -> s.slot);
        else
          v_error := format('%s was changed by another hand.', s.slot);
        end if;
      end if;
    elsif v_now is null then
      raise exception using errcode = 'WR001', message = 'target_not_read', detail = s.slot;
    elsif v_now <> s.found -> s.slot
      and not (v_retried and v_now = c.pre_state::jsonb -> s.slot)
    then
      v_error := format('%s is not what was found.', s.slot);
    else
      v_restored := jsonb_build_object(s.slot, v_now);
    end if;
    v_reason := 'change_reverted';
    if v_error is not null then
      v_lost := v_lost || s.slot;
      v_restored := null;
      v_reason := 'rollback_conflict';
    end if;

    v_made := v_made || jsonb_build_object(
      'job', g.job_id, 'contract', g.contract_id, 'tenant', g.tenant_id, 'step', s.n,
      'pending', g.status = 'PENDING', 'last', s.n = g.total_steps,
      'step_type', s.step_type, 'target', s.target, 'parameters', '{}'::jsonb,
      'found', coalesce(s.applied, '{}'), 'applied', v_restored,
      'found_version', w.found_version, 'written_version', w.written_version,
      'of_step', s.of_step, 'evidence', v_evidence, 'error', v_error,
      'reason', v_reason,
      'context', jsonb_build_object(
        'step', s.n, 'of_step', s.of_step, 'step_type', s.step_type, 'target', s.target,
        'slot', s.slot, 'by', p_actor, 'why', v_error,
        'after_sha256', encode(
          writ_data.state_hash(coalesce(v_restored, jsonb_build_object(s.slot, v_now))), 'hex'
        ),
        'evidence', writ_data.evidence_text(v_evidence), 'health', v_block, 'trust', p_trust,
        'run_id', g.run_id
      ),
      'done', jsonb_build_object(
        'step_no', s.n, 'undo_of', s.of_step, 'target', s.target, 'slot', s.slot,
        'after', coalesce(v_restored -> s.slot, v_now)
      ) || case when v_error is null then '{}' else jsonb_build_object('error', v_error) end
    );
  end loop;
  return v_made;
end $$;
