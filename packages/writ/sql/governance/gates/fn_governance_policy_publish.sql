-- Publishes a version of a tenant's governance policy. It applies at once to every contract that is
-- not approved yet.
-- Callers: writ_principal, writ_server
-- p_document: {approvals: {low, medium, high, critical}, sources, similar_within_sec, review_days,
--          draft_days, window_hours}; the built-in policy supplies absent fields.
-- p_version: the newest that the caller knows, 0 for the built-in policy; null: any.
-- Answers: {version}. The change leaves a receipt with its principal and login.
-- Refuses: invalid_argument, value_not_canonical, policy_moved (with the version), and what may()
--          refuses (right: operate).
create or replace function writ.fn_governance_policy_publish(
  p_key text,
  p_document jsonb,
  p_tenant_id text default 'default',
  p_version integer default null
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  m record;
  v_who text;
  v_wrong text;
  v_before record;
  v_document jsonb;
begin
  m := writ_data.may(p_key, 'operate', p_tenant_id);
  if m.refusal is not null then
    return m.refusal;
  end if;
  v_who := (m.who).principal_id;
  v_wrong := writ_data.inexact_number(p_document);
  if v_wrong is not null then
    return writ_data.refusal('value_not_canonical', v_wrong);
  end if;
  v_wrong := case
    when jsonb_typeof(p_document) is distinct from 'object' then 'It is an object.'
    when p_document - '{approvals,sources,similar_within_sec,review_days,draft_days,window_hours}'
      ::text[] <> '{}' then 'It has something that nobody reads.'
    when p_document ? 'approvals' and (
      jsonb_typeof(p_document -> 'approvals') <> 'object'
      or (p_document -> 'approvals') - '{low,medium,high,critical}'::text[] <> '{}'
      or (
        select count(*) from jsonb_each(p_document -> 'approvals') a
        where jsonb_typeof(a.value) = 'number' and a.value::numeric between 1 and 20
          and a.value::numeric % 1 = 0
      ) <> 4
    ) then 'approvals has a whole number from 1 to 20 for low, medium, high and critical.'
    when p_document ? 'sources' and (
      jsonb_typeof(p_document -> 'sources') <> 'array'
      or not p_document -> 'sources' <@ '["crm_feedback","support_ticket","ops_alert","manual"]'
      or jsonb_array_length(p_document -> 'sources') > 10
    ) then 'sources are among crm_feedback, support_ticket, ops_alert and manual.'
    when exists (
      select from jsonb_each(p_document - '{approvals,sources}'::text[]) t
      where jsonb_typeof(t.value) <> 'number'
    ) then 'A time is a number.'
    when (p_document ->> 'similar_within_sec')::numeric not between 0 and 31536000
      or (p_document ->> 'review_days')::numeric not between 3 and 365
      or (p_document ->> 'draft_days')::numeric not between 0.01 and 365
      or (p_document ->> 'window_hours')::numeric not between 1 and 168
      then 'A time is out of bounds.'
  end;
  if v_wrong is not null then
    return writ_data.refusal('invalid_argument', v_wrong);
  end if;

  -- The primary key serialises publishers: the second waits for the first one's row, and then takes
  -- the next number.
  v_document := writ_data.built_in_policy() || p_document;
  loop
    v_before := writ_data.governance_policy_of(p_tenant_id);
    if v_before.version <> p_version then
      return writ_data.refusal('policy_moved', format('version %s', v_before.version));
    end if;
    insert into writ_data.governance_policy (
      tenant_id, version, document, published_by, published_at
    )
    values (p_tenant_id, v_before.version + 1, v_document, v_who, v_now)
    on conflict do nothing;
    exit when found;
  end loop;

  perform writ_data.on_control_changed(
    p_tenant_id, 'governance_policy', format('version %s', v_before.version + 1),
    v_before.document, v_document, v_who, v_now
  );
  perform writ_data.record(
    'fn_governance_policy_publish', v_who, v_now, '{}', '{}', '{}', '{}',
    jsonb_build_object('version', v_before.version + 1)
  );
  return jsonb_build_object('version', v_before.version + 1);
exception when data_exception then
  return writ_data.refusal('invalid_argument', sqlerrm);
end $$;
