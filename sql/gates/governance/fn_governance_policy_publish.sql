-- Publishes a version of a tenant's governance policy: {approvals: {low, medium, high, critical}, sources, similar_within_sec, review_days, draft_days, window_hours}; what it leaves out is as built in. Contracts that are not approved yet are held to it from now on. Answers {version}.
-- Callers: writ_principal, writ_server
create or replace function writ.fn_governance_policy_publish(p_key text, p_document jsonb, p_tenant_id text default 'default') returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := writ.now(); m record; v_version integer; v_wrong text;
begin
  m := writ_data.may(p_key, 'operate', p_tenant_id);
  if m.refusal is not null then
    return m.refusal;
  end if;
  select case
    when jsonb_typeof(p_document) is distinct from 'object' then 'It is an object.'
    when p_document - '{approvals,sources,similar_within_sec,review_days,draft_days,window_hours}'::text[] <> '{}' then 'It has something that nobody reads.'
    when p_document ? 'approvals' and (select count(*) from jsonb_each(p_document -> 'approvals') a where a.key in ('low', 'medium', 'high', 'critical') and jsonb_typeof(a.value) = 'number' and a.value::numeric between 1 and 20) <> 4 then 'approvals has a number from 1 to 20 for low, medium, high and critical.'
    when p_document ? 'sources' and not p_document -> 'sources' <@ '["crm_feedback","support_ticket","ops_alert","manual"]' then 'sources are among crm_feedback, support_ticket, ops_alert and manual.'
    when (p_document ->> 'similar_within_sec')::numeric not between 0 and 31536000 or (p_document ->> 'review_days')::numeric not between 3 and 365 or (p_document ->> 'draft_days')::numeric not between 0.01 and 365 or (p_document ->> 'window_hours')::numeric not between 1 and 168 then 'A time is out of bounds.' end into v_wrong;
  if v_wrong is not null then
    return writ_data.refusal('invalid_argument', v_wrong);
  end if;
  perform pg_advisory_xact_lock(hashtextextended('governance_policy/' || p_tenant_id, 0));
  v_version := coalesce((select max(x.version) from writ_data.governance_policy x where x.tenant_id = p_tenant_id), 0) + 1;
  insert into writ_data.governance_policy (tenant_id, version, document, published_by, published_at) values (p_tenant_id, v_version,
    writ_data.built_in_policy() || p_document, (m.who).principal_id, v_now);
  perform writ_data.record('fn_governance_policy_publish', (m.who).principal_id, v_now, '{}', '{}', '{}', '{}', jsonb_build_object('version', v_version));
  return jsonb_build_object('version', v_version);
exception when data_exception then
  return writ_data.refusal('invalid_argument', sqlerrm);
end $$;
