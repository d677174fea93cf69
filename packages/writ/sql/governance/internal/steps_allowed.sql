-- Raises (WR001) what forbids forward steps that are done together: they are not the next, out of
-- scope, on targets that the contract does not hold, on frozen capabilities, or health blocks them.
-- A freeze of the tenant only stops activations. The error's column is the number of the step that
-- it is about.
-- Locks the capabilities of the steps in key-share mode, so a freeze waits for this transaction.
create or replace function writ_data.steps_allowed(
  g writ_data.governance_job,
  c writ_data.contract,
  p_first integer,
  p_last integer
) returns void
language plpgsql
as $$
declare
  v_max_age interval := (writ_data.setting('governance.evidence_max_age_ms'))::integer
    * interval '1 millisecond';
  v_soaks boolean := c.steps #>> array[(p_first - 1)::text, 'step_type'] = 'soak';
  v_targets text[];
  v_frozen boolean;
  t record;
  v_code text;
  v_detail text;
begin
  if p_first is distinct from g.done_steps + 1 or p_last is null or p_last > g.total_steps then
    raise exception using errcode = 'WR001', message = 'step_out_of_order',
      detail = format('Step %s, after %s of %s.', p_first, g.done_steps, g.total_steps);
  elsif c.scope = '{}' then
    raise exception using errcode = 'WR001', message = 'scope_empty',
      detail = format('Contract %s.', c.contract_id);
  end if;

  -- A soak is about everything that was changed; a signal about the system as a whole.
  v_targets := array(
    select distinct y.target from writ_data.slots(c.steps) y
    where y.step_no between p_first and p_last or v_soaks
  );
  perform from writ_data.capability a
  where a.tenant_id = c.tenant_id
    and a.capability_name in (
      select coalesce(o.owner_capability, u.target)
      from unnest(v_targets) u(target)
      left join writ_data.configuration_scope o
        on o.tenant_id = c.tenant_id and o.scope = u.target
    )
  order by a.capability_name
  for key share;

  v_frozen := c.glass_broken is null and not v_soaks
    and writ_data.frozen_by(c.tenant_id, v_targets) is not null;
  for t in
    select y.step_no, y.target, h.target is not null as held
    from (
      select x.target, min(x.step_no) as step_no
      from writ_data.slots(c.steps) x
      where x.target = any (v_targets) and (x.step_no between p_first and p_last or v_soaks)
      group by 1
    ) y
    left join writ_data.target_hold h
      on h.tenant_id = c.tenant_id and h.target = y.target and h.contract_id = c.contract_id
    order by y.step_no
  loop
    if t.target = 'SYSTEM' or t.target <> all (c.scope) then
      v_code := 'scope_violation';
      v_detail := format('Not in the scope: %s.', t.target);
    elsif not t.held then
      v_code := 'target_not_held';
      v_detail := t.target;
    else
      v_code := 'changes_frozen';
      v_detail := case when v_frozen
        then writ_data.frozen_by(c.tenant_id, array[t.target]) end;
      if v_detail is null then
        v_code := 'health_block';
        v_detail := writ_data.health_block(c.tenant_id, t.target, v_max_age);
      end if;
    end if;
    if v_detail is not null then
      raise exception using errcode = 'WR001', message = v_code, detail = v_detail,
        column = t.step_no::text;
    end if;
  end loop;

  if v_targets = '{}' and writ_data.system_health(c.tenant_id) = 'UNHEALTHY' then
    raise exception using errcode = 'WR001', message = 'health_block',
      detail = 'The system is unhealthy.', column = p_first::text;
  end if;
end $$;
