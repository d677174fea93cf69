-- internal
-- What has to hold for one forward step: it is the next, in scope, on a target that is held, and health allows it. Raises what does not. Answers the step.
create or replace function writ_data.step_allowed(g writ_data.governance_job, c writ_data.contract, p_step integer, p_evidence jsonb) returns jsonb language plpgsql stable as $$
declare
  s jsonb := c.steps -> (p_step - 1); v_wrong record; v_block text;
begin
  if p_step <> g.done_steps + 1 or s is null then
    raise exception using errcode = 'WR001', message = 'step_out_of_order', detail = format('Step %s, after %s of %s.', p_step, g.done_steps, g.total_steps);
  end if;
  v_wrong := writ_data.wrong_with(c.tenant_id, c.scope, jsonb_build_array(s));
  if v_wrong.code is not null then
    raise exception using errcode = 'WR001', message = v_wrong.code, detail = v_wrong.detail;
  elsif s ->> 'target' <> 'SYSTEM' and not exists (select from writ_data.target_hold h where h.tenant_id = c.tenant_id and h.target = s ->> 'target' and h.contract_id = c.contract_id) then
    raise exception using errcode = 'WR001', message = 'target_not_held', detail = s ->> 'target';
  end if;
  if s ->> 'step_type' <> 'signal_record' then
    if s ->> 'step_type' = 'soak' then
      select x.block into v_block from (select writ_data.health_block(c.tenant_id, t.target, p_evidence, (writ_data.setting('governance.evidence_max_age_ms'))::integer * interval '1 millisecond') as block from (select distinct y.target from writ_data.slots(c.steps) y) t) x where x.block is not null limit 1;
    else
      v_block := writ_data.health_block(c.tenant_id, s ->> 'target', p_evidence, (writ_data.setting('governance.evidence_max_age_ms'))::integer * interval '1 millisecond');
    end if;
    if v_block is not null then
      raise exception using errcode = 'WR001', message = 'health_block', detail = v_block;
    end if;
  end if;
  return s;
end $$;
