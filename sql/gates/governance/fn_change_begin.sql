-- A step that takes time, or happens outside the database, begins: everything that was approved is looked at again, what was found there (p_found: slot → value) must be what was approved or what the steps before have made of it, and how it is undone is written down before anything is done.
-- Begun again after a crash it answers when it began. Answers {began_at, now, found, rollback}.
-- Callers: writ_applier
create or replace function writ.fn_change_begin(p_job_id uuid, p_lease_token uuid, p_evidence jsonb, p_found jsonb, p_actor text) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
declare
  v_now timestamptz := writ.now(); q record; g writ_data.governance_job; c writ_data.contract; b writ_data.governance_step; s jsonb; z record; v_expected jsonb; v_code text; v_detail text;
begin
  select j.run_id, (writ_data.steps_of(s.step_id)).first as step_no into q from writ_data.job j join writ_data.run r on r.run_id = j.run_id join writ_data.plan_step s on s.plan_no = r.plan_no and s.step_no = j.step_no where j.job_id = p_job_id;
  if not exists (select from writ_data.job_lease l where l.lease_token = p_lease_token and p_job_id = any (l.job_ids)) then
    return writ_data.refusal('lease_lost');
  end if;
  select * into g from writ_data.governance_job where run_id = q.run_id for no key update;
  select * into c from writ_data.contract where contract_id = g.contract_id;
  perform writ_data.may_go_on(g, c, v_now);
  if g.status = 'PENDING' then
    perform writ_data.move_governance_job(g.job_id, array['RUNNING'], 'run_started', null, p_actor, v_now);
  end if;
  if g.kind = 'rollback' then
    select x.* into b from writ_data.governance_step x join writ_data.run r on r.run_id = g.run_id
    where x.job_id = g.of_job_id and x.step_no = (r.input #>> array['steps', (q.step_no - 1)::text, 'parameters', 'undo_of'])::integer;
    return jsonb_build_object('began_at', v_now, 'now', v_now, 'found', b.found, 'applied', b.applied, 'undo', true, 'step', c.steps -> (b.step_no - 1));
  end if;
  select * into b from writ_data.governance_step x where x.job_id = g.job_id and x.step_no = q.step_no;
  if not found then
    perform writ_data.steps_allowed(g, c, q.step_no, q.step_no, p_evidence);
    s := c.steps -> (q.step_no - 1);
    select * into z from writ_data.slots(c.steps) x where x.step_no = q.step_no;
    if z.slot is not null then
      v_expected := coalesce((select x.applied -> z.slot from writ_data.governance_step x where x.job_id = g.job_id and x.step_no < q.step_no and x.applied ? z.slot order by x.step_no desc limit 1), c.pre_state::jsonb -> z.slot);
      if p_found -> z.slot is distinct from v_expected then
        return writ_data.refusal('pre_value_conflict', format('%s is not what it was when it was approved, or what the steps before have made of it.', z.slot));
      end if;
    end if;
    insert into writ_data.governance_step (job_id, step_no, step_type, target, parameters, found, rollback_action, evidence, began_at)
    values (g.job_id, q.step_no, s ->> 'step_type', s ->> 'target', s -> 'parameters', case when z.slot is not null then jsonb_build_object(z.slot, p_found -> z.slot) end,
      case when z.slot is not null then jsonb_build_object('type', s ->> 'step_type', 'target', s ->> 'target', 'restore', p_found -> z.slot) end, coalesce(p_evidence, '{}'), v_now)
    returning * into b;
  end if;
  return jsonb_build_object('began_at', b.began_at, 'now', v_now, 'found', b.found, 'undo', false);
exception when sqlstate 'WR001' then
  get stacked diagnostics v_code = message_text, v_detail = pg_exception_detail;
  return writ_data.refusal(v_code, v_detail);
end $$;
