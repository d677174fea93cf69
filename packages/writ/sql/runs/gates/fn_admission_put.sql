-- Limits how many runs of a tenant are active at once. Beyond the limit, REJECT refuses runs
-- (TENANT_OVERLOADED), QUEUE starts them when there is room, and DELAY starts them p_delay_ms
-- later. At most p_max_pending runs wait; the gate refuses more. The rule of tenant * applies to
-- every tenant without its own rule.
-- Callers: writ_admin
-- Answers: {tenant, policy}. p_policy null removes the rule. The change leaves a receipt.
-- Refuses: actor_required, invalid_tenant, TENANT_ACCESS_DENIED, invalid_argument.
create or replace function writ.fn_admission_put(
  p_tenant_id text,
  p_policy text,
  p_max_running integer,
  p_max_pending integer,
  p_delay_ms integer,
  p_actor text
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  v_was jsonb;
  v_is jsonb;
begin
  if coalesce(btrim(p_actor), '') = '' or length(p_actor) > 200 then
    return writ_data.refusal('actor_required');
  elsif coalesce(p_tenant_id, '') = '' or length(p_tenant_id) > 200 or p_tenant_id = '_system' then
    return writ_data.refusal('invalid_tenant');
  elsif not writ_data.visible(p_tenant_id) then
    return writ_data.refusal('TENANT_ACCESS_DENIED', p_tenant_id);
  elsif p_policy not in ('REJECT', 'QUEUE', 'DELAY')
    or p_policy is not null and coalesce(p_max_running, 0) not between 1 and 1000000
    or p_max_pending not between 0 and 10000000
    or p_delay_ms not between 1 and 86400000 then
    return writ_data.refusal('invalid_argument',
      'A rule has the policy REJECT, QUEUE or DELAY, max_running from 1 to a million, '
      'max_pending from 0 to ten million, and delay_ms from 1 to a day.');
  end if;

  select to_jsonb(a) - '{tenant_id,put_by,put_at}'::text[] into v_was
  from writ_data.admission a
  where a.tenant_id = p_tenant_id
  for update;
  if p_policy is null then
    delete from writ_data.admission where tenant_id = p_tenant_id;
  else
    insert into writ_data.admission as a (tenant_id, policy, max_running, max_pending, delay_ms,
      put_by, put_at)
    values (p_tenant_id, p_policy, p_max_running, coalesce(p_max_pending, 10000),
      coalesce(p_delay_ms, 1000), p_actor, v_now)
    on conflict (tenant_id) do update
    set policy = excluded.policy, max_running = excluded.max_running,
      max_pending = excluded.max_pending, delay_ms = excluded.delay_ms, put_by = excluded.put_by,
      put_at = excluded.put_at
    returning to_jsonb(a) - '{tenant_id,put_by,put_at}'::text[] into v_is;
  end if;
  if v_was is distinct from v_is then
    perform writ_data.on_control_changed(nullif(p_tenant_id, '*'), 'admission', p_tenant_id, v_was,
      v_is, p_actor, v_now);
  end if;
  perform writ_data.record('fn_admission_put', p_actor, v_now, '{}', '{}', '{}', '{}',
    p_note => format('%s: %s', p_tenant_id, coalesce(p_policy, 'no rule')));
  return jsonb_build_object('tenant', p_tenant_id, 'policy', p_policy);
end $$;
