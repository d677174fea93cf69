-- Raises (WR001) what forbids forward steps that are done together: they are not the next, out of
-- scope, on targets that the contract does not hold, or health blocks them.
create or replace function writ_data.steps_allowed(
  g writ_data.governance_job,
  c writ_data.contract,
  p_first integer,
  p_last integer
) returns void
language plpgsql stable
as $$
declare
  v_max_age interval := (writ_data.setting('governance.evidence_max_age_ms'))::integer
    * interval '1 millisecond';
  v_outside text;
  v_held text;
  v_block text;
begin
  if p_first is distinct from g.done_steps + 1 or p_last is null or p_last > g.total_steps then
    raise exception using errcode = 'WR001', message = 'step_out_of_order',
      detail = format('Step %s, after %s of %s.', p_first, g.done_steps, g.total_steps);
  elsif c.scope = '{}' then
    raise exception using errcode = 'WR001', message = 'scope_empty',
      detail = format('Contract %s.', c.contract_id);
  end if;

  -- A soak is about everything that was changed; a signal about nothing.
  select
    string_agg(t.target, ', ') filter (where t.target = 'SYSTEM' or t.target <> all (c.scope)),
    string_agg(t.target, ', ') filter (where h.target is null),
    min(b.block)
  into v_outside, v_held, v_block
  from (
    select distinct y.target
    from writ_data.slots(c.steps) y
    where y.step_no between p_first and p_last
      or c.steps #>> array[(p_first - 1)::text, 'step_type'] = 'soak'
  ) t
  left join writ_data.target_hold h
    on h.tenant_id = c.tenant_id and h.target = t.target and h.contract_id = c.contract_id
  cross join lateral (
    select writ_data.health_block(c.tenant_id, t.target, v_max_age) as block
  ) b;
  if v_outside is not null then
    raise exception using errcode = 'WR001', message = 'scope_violation',
      detail = format('Not in the scope: %s.', v_outside);
  elsif v_held is not null then
    raise exception using errcode = 'WR001', message = 'target_not_held', detail = v_held;
  elsif v_block is not null then
    raise exception using errcode = 'WR001', message = 'health_block', detail = v_block;
  end if;
end $$;
