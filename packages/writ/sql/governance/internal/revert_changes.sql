-- Does steps of a rollback job together: each restores what a step of the original job found, if
-- nobody else has changed it since. In the database that is compared by the version that the step
-- wrote; outside, whoever reverts it has compared, and p_read is what stands there now.
-- Answers what changes_made writes down. Raises (WR001) what does not hold, rollback_conflict among
-- it. The caller has locked the governance job, whose kind is rollback.
create or replace function writ_data.revert_changes(
  g writ_data.governance_job,
  c writ_data.contract,
  p_first integer,
  p_last integer,
  p_read jsonb,
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
  v_written jsonb := '{}';      -- slot → the version that this call wrote last
  v_made jsonb[] := '{}';
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

    if s.step_type in ('capability_enable', 'capability_disable', 'config_update') then
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
      w := writ_data.change_target(
        c.tenant_id, s.step_type, s.target, s.key, null, v_version, s.found -> s.slot, p_actor, p_at
      );
      if not w.as_expected then
        raise exception using errcode = 'WR001', message = 'rollback_conflict',
          detail = format('Step %s: %s was changed by another hand.', s.n, s.slot);
      end if;
      v_written := v_written || jsonb_build_object(s.slot, w.written_version);
      v_restored := jsonb_build_object(s.slot, s.found -> s.slot);
    else
      if p_read -> s.slot is distinct from s.found -> s.slot then
        raise exception using errcode = 'WR001', message = 'rollback_conflict',
          detail = format('%s is not what was found.', s.slot);
      end if;
      v_restored := jsonb_build_object(s.slot, p_read -> s.slot);
    end if;

    v_made := v_made || jsonb_build_object(
      'job', g.job_id, 'contract', g.contract_id, 'tenant', g.tenant_id, 'step', s.n,
      'pending', g.status = 'PENDING', 'last', s.n = g.total_steps,
      'step_type', s.step_type, 'target', s.target, 'parameters', '{}'::jsonb,
      'found', coalesce(s.applied, '{}'), 'applied', v_restored,
      'found_version', w.found_version, 'written_version', w.written_version,
      'of_step', s.of_step, 'evidence', v_evidence, 'reason', 'change_reverted',
      'context', jsonb_build_object(
        'step', s.n, 'of_step', s.of_step, 'step_type', s.step_type, 'target', s.target,
        'slot', s.slot, 'by', p_actor,
        'after_sha256', encode(writ_data.state_hash(v_restored), 'hex'),
        'evidence', writ_data.evidence_text(v_evidence), 'health', v_block, 'run_id', g.run_id
      ),
      'done', jsonb_build_object(
        'step_no', s.n, 'undo_of', s.of_step, 'target', s.target, 'slot', s.slot,
        'after', v_restored -> s.slot
      )
    );
  end loop;
  return v_made;
end $$;
