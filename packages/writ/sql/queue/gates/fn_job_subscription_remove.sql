-- Takes one subscription of a worker back. Answers {removed, limited}: limited false means that it was the last, and the worker claims what it asks for.
-- Callers: writ_admin
create or replace function writ.fn_job_subscription_remove(p_executor_id text, p_job_kind text, p_event_domain text, p_actor text) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := writ.now();
begin
  if coalesce(btrim(p_actor), '') = '' then
    return writ_data.refusal('actor_required');
  elsif writ_data.caller_tenant() is not null then
    return writ_data.refusal('tenant_forbidden', 'Workers serve all tenants.');
  end if;
  delete from writ_data.job_subscription
  where executor_id = p_executor_id and job_kind is not distinct from p_job_kind and event_domain is not distinct from p_event_domain;
  if not found then
    return writ_data.refusal('subscription_not_found', p_executor_id);
  end if;
  perform writ_data.record('fn_job_subscription_remove', p_actor, v_now, '{}', '{}', '{}', '{}',
    p_note => format('%s: kind %s, domain %s', p_executor_id, coalesce(p_job_kind, 'any'), coalesce(p_event_domain, 'any')));
  return jsonb_build_object('removed', true, 'limited', exists (select from writ_data.job_subscription where executor_id = p_executor_id));
end $$;
