-- internal
-- The policy that is in force for a tenant, with its version; version 0 is what is built in: one approval for low and medium risk, two for high and critical, every source, and no similar contract within 24 hours.
create or replace function writ_data.governance_policy_of(p_tenant text, out version integer, out document jsonb) language sql stable
begin atomic
  select coalesce(p.version, 0), '{"approvals":{"low":1,"medium":1,"high":2,"critical":2},"sources":["crm_feedback","support_ticket","ops_alert","manual"],"similar_within_sec":86400,"review_days":7,"draft_days":7,"window_hours":24,"system_scope":false}'::jsonb || coalesce(p.document, '{}')
  from (select 1) one left join lateral (select x.version, x.document from writ_data.governance_policy x where x.tenant_id = p_tenant order by x.version desc limit 1) p on true;
end;
