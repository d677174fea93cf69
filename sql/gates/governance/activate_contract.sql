-- internal
-- An approved contract becomes active: its holds are taken, and its one forward job is made. The caller has locked it. Answers the job, or the refusal.
create or replace function writ_data.activate_contract(p_contract uuid, p_read jsonb, p_actor text, p_at timestamptz) returns jsonb language plpgsql as $$
declare
  c writ_data.contract; v_state jsonb; v_void text; v_held text; v_job uuid; v_wrong record; v_frozen text; v_new uuid;
begin
  select * into c from writ_data.contract where contract_id = p_contract;
  select f.reason into v_frozen from writ_data.freeze f where f.tenant_id = c.tenant_id and f.lifted_at is null and p_at >= f.begins_at and p_at < f.ends_at limit 1;
  if v_frozen is not null and c.glass_broken is null then
    return writ_data.refusal('changes_frozen', v_frozen);
  end if;
  v_wrong := writ_data.wrong_with(c.tenant_id, c.scope, c.steps);
  v_void := coalesce(v_wrong.code, writ_data.approved_still(c));
  v_state := writ_data.state_of(c.tenant_id, c.steps, p_read);
  if v_void is null and v_state is distinct from c.pre_state::jsonb then
    v_void := 'stale_pre_value';
  end if;
  if v_void is not null then
    v_new := writ_data.void_contract(p_contract, v_void, p_actor, p_at);
    return writ_data.refusal(v_void, format('Contract %s has failed; %s is a draft in its place.', p_contract, v_new)) || jsonb_build_object('contract_id', v_new);
  end if;
  insert into writ_data.target_hold (tenant_id, target, contract_id, taken_at) select distinct c.tenant_id, s.target, p_contract, p_at from writ_data.slots(c.steps) s order by s.target on conflict do nothing;
  select string_agg(distinct s.target, ', ') into v_held from writ_data.slots(c.steps) s where not exists (select from writ_data.target_hold h where h.tenant_id = c.tenant_id and h.target = s.target and h.contract_id = p_contract);
  if v_held is not null then
    delete from writ_data.target_hold where contract_id = p_contract;
    return writ_data.refusal('target_held', v_held);
  end if;
  v_job := writ_data.start_governance_job(c, 'forward', null, c.steps, writ_data.state_hash(v_state), 'contract_activated', null, p_actor, p_at);
  update writ_data.governance_job set health_before = (select coalesce(jsonb_object_agg(h.capability, h.status), '{}') from (select distinct coalesce(o.owner_capability, s.target) as name from writ_data.slots(c.steps) s
    left join writ_data.configuration_scope o on o.tenant_id = c.tenant_id and o.scope = s.target) u cross join lateral writ_data.health_of(c.tenant_id, p_only => u.name) h) where job_id = v_job;
  update writ_data.contract set job_id = v_job, audit_verdict = 'PENDING' where contract_id = p_contract;
  perform writ_data.move_contract(p_contract, 'ACTIVE', 'job ' || v_job, p_actor, p_at);
  return jsonb_build_object('contract_id', p_contract, 'job_id', v_job, 'run_id', (select run_id from writ_data.governance_job where job_id = v_job));
end $$;
