-- Limits a worker to jobs of this kind and domain (null: all) from this priority up (null: any), beside what its other subscriptions allow. The first
-- subscription of a worker is the one that limits it: a worker without any claims what it asks for.
-- Callers: writ_admin
create or replace function writ.fn_job_subscription_put(
  p_executor_id text, p_job_kind text, p_event_domain text, p_priority_floor integer, p_actor text
) returns jsonb language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := writ.now();
  v_floor integer := coalesce(p_priority_floor, -32768);
begin
  if coalesce(btrim(p_actor), '') = '' then
    return writ_data.refusal('actor_required');
  elsif writ_data.caller_tenant() is not null then
    return writ_data.refusal('tenant_forbidden', 'Workers serve all tenants.');
  elsif coalesce(btrim(p_executor_id), '') = '' or length(p_executor_id) > 200 then
    return writ_data.refusal('invalid_subscription', 'It does not name a worker.');
  elsif p_executor_id like 'MOT:%' then
    return writ_data.refusal('generator_forbidden', p_executor_id);
  elsif v_floor not between -32768 and 32767 then
    return writ_data.refusal('invalid_subscription', 'A priority is from -32768 to 32767.');
  elsif p_event_domain not in ('iu', 'birth_registry', 'governance', 'tac', 'kg', 'system', 'dot', 'health', 'piece') then
    return writ_data.refusal('invalid_subscription', format('%s is not a domain.', p_event_domain));
  elsif p_job_kind is not null and not exists (select from writ_data.job_kind where job_kind = p_job_kind) then
    return writ_data.refusal('unknown_job_kind', p_job_kind);
  end if;
  insert into writ_data.job_subscription as s (executor_id, job_kind, event_domain, priority_floor, put_by, put_at)
  values (p_executor_id, p_job_kind, p_event_domain, v_floor, p_actor, v_now)
  on conflict on constraint subscription_is_said_once do update
    set priority_floor = excluded.priority_floor, put_by = excluded.put_by, put_at = excluded.put_at
    where s.priority_floor <> excluded.priority_floor;
  if found then
    perform writ_data.record('fn_job_subscription_put', p_actor, v_now, '{}', '{}', '{}', '{}',
      p_note => format('%s: kind %s, domain %s, priority from %s', p_executor_id, coalesce(p_job_kind, 'any'), coalesce(p_event_domain, 'any'), v_floor));
  end if;
  return jsonb_build_object('executor_id', p_executor_id, 'job_kind', p_job_kind, 'event_domain', p_event_domain, 'priority_floor', v_floor);
end $$;
