-- Removes one subscription of a worker.
-- Callers: writ_admin
-- Answers: {removed, limited}. limited is false if it was the last one; the worker is then not
--          limited.
-- Refuses: actor_required, invalid_actor, tenant_forbidden, subscription_not_found.
-- Locks:   the row of the subscription.
create or replace function writ.fn_job_subscription_remove(
  p_executor_id text,
  p_job_kind text,
  p_event_domain text,
  p_actor text
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
begin
  if coalesce(btrim(p_actor), '') = '' then
    return writ_data.refused('fn_job_subscription_remove', p_actor, 'actor_required');
  elsif length(p_actor) > 200 then
    return writ_data.refused('fn_job_subscription_remove', p_actor, 'invalid_actor');
  elsif writ_data.caller_tenant() is not null then
    return writ_data.refused(
      'fn_job_subscription_remove', p_actor, 'tenant_forbidden', 'Workers serve all tenants.'
    );
  end if;

  delete from writ_data.job_subscription
  where executor_id = p_executor_id
    and job_kind is not distinct from p_job_kind
    and event_domain is not distinct from p_event_domain;
  if not found then
    return writ_data.refused(
      'fn_job_subscription_remove', p_actor, 'subscription_not_found', left(p_executor_id, 200)
    );
  end if;
  perform writ_data.record(
    'fn_job_subscription_remove', p_actor, v_now, '{}', '{}', '{}', '{}',
    p_note => format(
      '%s: kind %s, domain %s', p_executor_id, coalesce(p_job_kind, 'any'),
      coalesce(p_event_domain, 'any')
    )
  );
  return jsonb_build_object(
    'removed', true,
    'limited', exists (
      select from writ_data.job_subscription where executor_id = p_executor_id
    )
  );
end $$;
