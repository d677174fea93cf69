-- The id of this deployment, for which approvals are signed.
create or replace function writ_data.deployment_id() returns uuid
language sql stable
begin atomic
  select d.deployment_id from writ_data.deployment d;
end;
