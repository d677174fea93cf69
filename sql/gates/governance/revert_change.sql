-- internal
-- One step of a rollback: restores what a step of the original job found, if nobody else has changed it since (by the version that was written; outside the database, whoever reverts it has compared). Raises rollback_conflict where somebody has.
create or replace function writ_data.revert_change(g writ_data.governance_job, c writ_data.contract, p_step integer, p_evidence jsonb, p_read jsonb, p_actor text, p_at timestamptz) returns jsonb language plpgsql as $$
declare
  o writ_data.governance_step; z record; w record; v_version bigint; v_of integer; v_restored jsonb; v_block text;
begin
  if p_step <> g.done_steps + 1 then
    raise exception using errcode = 'WR001', message = 'step_out_of_order', detail = format('Step %s, after %s of %s.', p_step, g.done_steps, g.total_steps);
  end if;
  select (r.input #>> array['steps', (p_step - 1)::text, 'parameters', 'undo_of'])::integer into v_of from writ_data.run r where r.run_id = g.run_id;
  select * into o from writ_data.governance_step x where x.job_id = g.of_job_id and x.step_no = v_of;
  if o.rollback_action is null then
    raise exception using errcode = 'WR001', message = 'rollback_conflict', detail = format('Step %s of job %s has nothing to undo.', v_of, g.of_job_id);
  elsif not exists (select from writ_data.target_hold h where h.tenant_id = c.tenant_id and h.target = o.target and h.contract_id = c.contract_id) then
    raise exception using errcode = 'WR001', message = 'target_not_held', detail = o.target;
  end if;
  v_block := writ_data.health_block(c.tenant_id, o.target, p_evidence, (writ_data.setting('governance.evidence_max_age_ms'))::integer * interval '1 millisecond');
  if v_block is not null and writ_data.setting('governance.rollback.health_gate') = '"enforce"' then
    raise exception using errcode = 'WR001', message = 'health_block', detail = v_block;
  end if;
  select * into z from writ_data.slots(c.steps) x where x.step_no = v_of;
  select null::bigint as found_version, null::bigint as written_version into w;
  if o.step_type in ('capability_enable', 'capability_disable', 'config_update') then
    -- What this rollback has restored last, or one that was tried before.
    v_version := coalesce((select x.written_version from writ_data.governance_job y join writ_data.governance_step x on x.job_id = y.job_id where y.of_job_id = g.of_job_id and x.applied ? z.slot order by x.receipt_no desc limit 1), o.written_version);
    w := writ_data.change_target(c.tenant_id, o.step_type, o.target, z.key, null, v_version, o.found -> z.slot, p_actor, p_at);
    if not w.as_expected then
      raise exception using errcode = 'WR001', message = 'rollback_conflict', detail = format('%s was changed by another hand.', z.slot);
    end if;
    v_restored := jsonb_build_object(z.slot, o.found -> z.slot);
  else
    if p_read -> z.slot is distinct from o.found -> z.slot then
      raise exception using errcode = 'WR001', message = 'rollback_conflict', detail = format('%s is not what was found.', z.slot);
    end if;
    v_restored := jsonb_build_object(z.slot, p_read -> z.slot);
  end if;
  return jsonb_build_object('job', g.job_id, 'contract', g.contract_id, 'tenant', g.tenant_id, 'step', p_step, 'last', p_step = g.total_steps, 'step_type', o.step_type, 'target', o.target, 'parameters', jsonb_build_object('undo_of', v_of), 'found', coalesce(o.applied, '{}'),
    'applied', v_restored, 'found_version', w.found_version, 'written_version', w.written_version, 'of_step', v_of, 'evidence', coalesce(p_evidence, '{}'), 'reason', 'change_reverted',
    'context', jsonb_build_object('step', p_step, 'of_step', v_of, 'step_type', o.step_type, 'target', o.target, 'slot', z.slot, 'by', p_actor, 'after_sha256', encode(writ_data.state_hash(v_restored), 'hex'), 'evidence', writ_data.evidence_text(p_evidence),
      'health', v_block, 'run_id', g.run_id),
    'done', jsonb_build_object('step_no', p_step, 'undo_of', v_of, 'target', o.target, 'slot', z.slot, 'after', v_restored -> z.slot));
end $$;
