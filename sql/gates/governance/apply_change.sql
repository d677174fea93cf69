-- internal
-- One step of a governance job, in the transaction of its queue job: everything that was approved is looked at again, then the target is written. Raises (WR001) what does not hold. Of a step outside the database, which has begun before (fn_change_begin), p_read is what
-- stands there now. Answers what changes_made writes down, of this one and others together.
create or replace function writ_data.apply_change(p_run uuid, p_step integer, p_evidence jsonb, p_read jsonb, p_actor text, p_at timestamptz) returns jsonb language plpgsql as $$
declare
  g writ_data.governance_job; c writ_data.contract; s jsonb; z record; v_expected jsonb; w record; b writ_data.governance_step; v_type text; v_target text; v_found jsonb; v_applied jsonb; v_undo jsonb;
begin
  select * into g from writ_data.governance_job where run_id = p_run for no key update;
  select * into c from writ_data.contract where contract_id = g.contract_id;
  g := writ_data.begin_governance_job(g, c, p_actor, p_at);
  if g.kind = 'rollback' then
    return writ_data.revert_change(g, c, p_step, p_evidence, p_read, p_actor, p_at);
  end if;
  s := writ_data.step_allowed(g, c, p_step, p_evidence);
  v_type := s ->> 'step_type'; v_target := s ->> 'target';
  select * into z from writ_data.slots(c.steps) x where x.step_no = p_step; -- none, of a signal or a soak
  select null::bigint as found_version, null::bigint as written_version into w;
  select * into b from writ_data.governance_step x where x.job_id = g.job_id and x.step_no = p_step;
  if v_type = 'signal_record' then
    perform writ_data.put_signal(c.tenant_id, s #>> '{parameters,signal_type}', coalesce(s #>> '{parameters,scope}', 'SYSTEM'), coalesce(s #>> '{parameters,decision}', 'EXECUTING'),
      replace(replace(coalesce(s #>> '{parameters,reason}', 'Job {job_id} executing contract {contract_id}'), '{job_id}', g.job_id::text), '{contract_id}', c.contract_id::text), null, p_actor, p_at);
  elsif v_type = 'soak' then
    if b.job_id is null or p_at < b.began_at + (s #>> '{parameters,duration_ms}')::bigint * interval '1 millisecond' then
      raise exception using errcode = 'WR001', message = 'soak_not_over', detail = format('Step %s soaks for %s ms.', p_step, s #>> '{parameters,duration_ms}');
    end if;
  else
    v_expected := coalesce((select x.applied -> z.slot from writ_data.governance_step x where x.job_id = g.job_id and x.step_no < p_step and x.applied ? z.slot order by x.step_no desc limit 1), c.pre_state::jsonb -> z.slot);
    if v_type in ('capability_enable', 'capability_disable', 'config_update') then
      w := writ_data.change_target(c.tenant_id, v_type, v_target, z.key, v_expected, null, z.value, p_actor, p_at);
      if not w.as_expected then
        raise exception using errcode = 'WR001', message = 'pre_value_conflict', detail = format('%s is not what it was when it was approved, or what the steps before have made of it.', z.slot);
      end if;
      v_found := jsonb_build_object(z.slot, w.was); v_applied := jsonb_build_object(z.slot, z.value);
      v_undo := jsonb_build_object('type', v_type, 'target', v_target, 'restore', w.was);
    else
      if b.job_id is null then
        raise exception using errcode = 'WR001', message = 'step_not_begun', detail = format('Step %s.', p_step);
      elsif p_read -> z.slot is null then
        raise exception using errcode = 'WR001', message = 'target_not_read', detail = z.slot;
      end if;
      v_found := b.found; v_applied := jsonb_build_object(z.slot, p_read -> z.slot); v_undo := b.rollback_action;
    end if;
  end if;
  return jsonb_build_object('job', g.job_id, 'contract', g.contract_id, 'tenant', g.tenant_id, 'step', p_step, 'last', p_step = g.total_steps, 'step_type', v_type, 'target', v_target, 'parameters', s -> 'parameters', 'found', v_found, 'applied', v_applied,
    'found_version', w.found_version, 'written_version', w.written_version, 'rollback_action', v_undo, 'evidence', coalesce(p_evidence, '{}'), 'reason', 'change_applied',
    'context', jsonb_build_object('step', p_step, 'step_type', v_type, 'target', v_target, 'slot', z.slot, 'by', p_actor, 'before_sha256', encode(writ_data.state_hash(v_found), 'hex'), 'after_sha256', encode(writ_data.state_hash(v_applied), 'hex'),
      'evidence', writ_data.evidence_text(p_evidence), 'run_id', p_run),
    'done', jsonb_strip_nulls(jsonb_build_object('step_no', p_step, 'step_type', v_type, 'target', v_target, 'slot', z.slot)) || coalesce(jsonb_build_object('before', v_found -> z.slot, 'after', v_applied -> z.slot), '{}'));
end $$;
