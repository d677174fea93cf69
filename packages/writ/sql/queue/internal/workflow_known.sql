-- Whether a tenant has a workflow. A function, because a subquery in the enqueue would be set up
-- for every call, and few need it.
create or replace function writ_data.workflow_known(
  p_workflow_id uuid,
  p_tenant_id text
) returns boolean
language plpgsql stable
as $$
begin
  return exists (
    select from writ_data.job_workflow
    where workflow_id = p_workflow_id and tenant_id = p_tenant_id
  );
end $$;
