-- Returns the governance policy of a tenant that has published none: one approval for low and
-- medium risk, two for high and critical, every source, and no similar contract within 24 hours.
create or replace function writ_data.built_in_policy() returns jsonb
language sql immutable
return '{"approvals":{"low":1,"medium":1,"high":2,"critical":2},'
  '"sources":["crm_feedback","support_ticket","ops_alert","manual"],'
  '"similar_within_sec":86400,"review_days":7,"draft_days":7,"window_hours":24}'::jsonb;
