-- Limits a worker to jobs of this kind and domain with at least this priority, in addition to what
-- its other subscriptions allow. A worker without subscriptions is not limited.
-- Callers: writ_admin
-- Answers: {executor_id, job_kind, event_domain, priority_floor}.
-- Refuses: actor_required, invalid_actor, tenant_forbidden, invalid_subscription,
--          generator_forbidden, unknown_job_kind.
-- Locks:   the row of the subscription.
create or replace function writ.fn_job_subscription_put(
  p_executor_id text,
  p_job_kind text,                  -- null: all
  p_event_domain text,              -- null: all
  p_priority_floor integer,         -- null: any
  p_actor text
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  v_floor integer := coalesce(p_priority_floor, -32768);
begin
  if coalesce(btrim(p_actor), '') = '' then
    return writ_data.refused('fn_job_subscription_put', p_actor, 'actor_required');
  elsif length(p_actor) > 200 then
    return writ_data.refused('fn_job_subscription_put', p_actor, 'invalid_actor');
  elsif writ_data.caller_tenant() is not null then
    return writ_data.refused(
      'fn_job_subscription_put', p_actor, 'tenant_forbidden', 'Workers serve all tenants.'
    );
  elsif coalesce(btrim(p_executor_id), '') = '' or length(p_executor_id) > 200 then
    return writ_data.refused(
      'fn_job_subscription_put', p_actor, 'invalid_subscription', 'It does not name a worker.'
    );
  elsif p_executor_id like 'MOT:%' then
    return writ_data.refused(
      'fn_job_subscription_put', p_actor, 'generator_forbidden', p_executor_id
    );
  elsif v_floor not between -32768 and 32767 then
    return writ_data.refused(
      'fn_job_subscription_put', p_actor,
      'invalid_subscription', 'A priority is from -32768 to 32767.'
    );
  elsif p_event_domain not in (
    'iu', 'birth_registry', 'governance', 'tac', 'kg', 'system', 'dot', 'health', 'piece'
  ) then
    return writ_data.refused(
      'fn_job_subscription_put', p_actor,
      'invalid_subscription', format('%s is not a domain.', left(p_event_domain, 200))
    );
  elsif p_job_kind is not null
    and not exists (select from writ_data.job_kind where job_kind = p_job_kind)
  then
    return writ_data.refused(
      'fn_job_subscription_put', p_actor, 'unknown_job_kind', left(p_job_kind, 200)
    );
  end if;

  insert into writ_data.job_subscription as s (
    executor_id, job_kind, event_domain, priority_floor, put_by, put_at
  )
  values (p_executor_id, p_job_kind, p_event_domain, v_floor, p_actor, v_now)
  on conflict on constraint subscription_is_said_once do update set
    priority_floor = excluded.priority_floor, put_by = excluded.put_by, put_at = excluded.put_at
  where s.priority_floor <> excluded.priority_floor;
  if found then
    perform writ_data.record(
      'fn_job_subscription_put', p_actor, v_now, '{}', '{}', '{}', '{}',
      p_note => format(
        '%s: kind %s, domain %s, priority from %s', p_executor_id, coalesce(p_job_kind, 'any'),
        coalesce(p_event_domain, 'any'), v_floor
      )
    );
  end if;
  return jsonb_build_object(
    'executor_id', p_executor_id, 'job_kind', p_job_kind, 'event_domain', p_event_domain,
    'priority_floor', v_floor
  );
end $$;
