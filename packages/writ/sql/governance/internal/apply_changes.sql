-- Does steps of a governance job together, in the transaction of their queue job. Checks everything
-- that was approved again, then writes the targets.
-- p_read: the current value outside the database of a step that has begun (fn_change_begin).
-- p_trust: the trust that the applier has judged the signatures with.
-- Answers the rows that changes_made writes for these and other jobs together.
-- Raises (WR001) the condition that fails; then none of these steps is done. The error's column is
-- the number of the step that it is about, if it is about one.
-- The caller has locked the governance job.
create or replace function writ_data.apply_changes(
  p_run uuid,
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
  g writ_data.governance_job;
  c writ_data.contract;
  v_evidence jsonb;
  v_evidence_text text;
  v_state jsonb;                -- what was approved, and what the steps before have made of it
  s record;
  v_type text;
  v_target text;
  w record;                     -- versions found and written (change_target)
  b writ_data.governance_step;  -- a step outside the database, as it began
  v_found jsonb;
  v_applied jsonb;
  v_undo jsonb;
  v_made jsonb[] := '{}'::jsonb[];
begin
  select * into g from writ_data.governance_job where run_id = p_run;
  if g.job_id is null then
    raise exception using errcode = 'WR001', message = 'job_not_found',
      detail = 'The queue job is no step of a governance job.';
  end if;
  select * into c from writ_data.contract where contract_id = g.contract_id;
  perform writ_data.may_go_on(g, c, p_at);
  if g.kind = 'rollback' then
    return writ_data.revert_changes(g, c, p_first, p_last, p_read, p_trust, p_actor, p_at);
  end if;
  perform writ_data.steps_allowed(g, c, p_first, p_last);

  v_evidence := writ_data.evidence_of(c.tenant_id, array(
    select distinct z.target from writ_data.slots(c.steps) z
    where z.step_no between p_first and p_last
      or c.steps #>> array[(p_first - 1)::text, 'step_type'] = 'soak'
  ));
  v_evidence_text := writ_data.evidence_text(v_evidence);
  v_state := c.pre_state::jsonb;
  if p_first > 1 then
    v_state := v_state || writ_data.applied_by(g.job_id);
  end if;

  for s in
    select x.n::integer as n, x.step, z.slot, z.key, z.value
    from jsonb_array_elements(c.steps) with ordinality x(step, n)
    left join writ_data.slots(c.steps) z on z.step_no = x.n
    where x.n between p_first and p_last
    order by x.n
  loop
    v_type := s.step ->> 'step_type';
    v_target := s.step ->> 'target';
    v_found := null;
    v_applied := null;
    v_undo := null;
    select null::bigint as found_version, null::bigint as written_version into w;

    if v_type = 'signal_record' then
      perform writ_data.record_step_signal(g, c, s.n, s.step -> 'parameters', p_actor, p_at);
    elsif v_type in ('capability_enable', 'capability_disable', 'config_update') then
      w := writ_data.change_target(
        c.tenant_id, v_type, v_target, s.key, v_state -> s.slot, null, s.value, p_actor, p_at
      );
      if not w.as_expected then
        raise exception using errcode = 'WR001', message = 'pre_value_conflict', detail = format(
          'Step %s: %s is not what it was when it was approved, or what the steps before have made'
          ' of it.', s.n, s.slot
        ), column = s.n::text;
      end if;
      v_found := jsonb_build_object(s.slot, w.was);
      v_applied := jsonb_build_object(s.slot, s.value);
      v_undo := jsonb_build_object('type', v_type, 'target', v_target, 'restore', w.was);
      v_state := v_state || v_applied;
    else
      select * into b
      from writ_data.governance_step x
      where x.job_id = g.job_id and x.step_no = s.n;
      if b.job_id is null then
        raise exception using errcode = 'WR001', message = 'step_not_begun',
          detail = format('Step %s.', s.n);
      elsif v_type = 'soak' then
        if b.watched_ms < (s.step #>> '{parameters,duration_ms}')::bigint then
          raise exception using errcode = 'WR001', message = 'soak_not_over',
            detail = format('Step %s soaks for %s ms.', s.n, s.step #>> '{parameters,duration_ms}');
        end if;
      elsif p_read -> s.slot is null or octet_length((p_read -> s.slot)::text) > 65536 then
        raise exception using errcode = 'WR001', message = 'target_not_read', detail = s.slot;
      else
        v_found := b.found;
        v_applied := jsonb_build_object(s.slot, writ_data.exact(p_read -> s.slot, s.slot));
        v_undo := b.rollback_action;
      end if;
    end if;

    v_made := v_made || jsonb_build_object(
      'job', g.job_id, 'contract', g.contract_id, 'tenant', g.tenant_id, 'step', s.n,
      'pending', g.status = 'PENDING', 'last', s.n = g.total_steps,
      'step_type', v_type, 'target', v_target, 'parameters', s.step -> 'parameters',
      'found', v_found, 'applied', v_applied,
      'found_version', w.found_version, 'written_version', w.written_version,
      'rollback_action', v_undo, 'evidence', v_evidence, 'reason', 'change_applied',
      'context', jsonb_build_object(
        'step', s.n, 'step_type', v_type, 'target', v_target, 'slot', s.slot, 'by', p_actor,
        'before_sha256', encode(writ_data.state_hash(v_found), 'hex'),
        'after_sha256', encode(writ_data.state_hash(v_applied), 'hex'),
        'evidence', v_evidence_text, 'trust', p_trust, 'run_id', p_run
      ),
      'done', jsonb_strip_nulls(jsonb_build_object(
        'step_no', s.n, 'step_type', v_type, 'target', v_target, 'slot', s.slot
      )) || coalesce(
        jsonb_build_object('before', v_found -> s.slot, 'after', v_applied -> s.slot), '{}'
      )
    );
  end loop;
  return v_made;
end $$;
