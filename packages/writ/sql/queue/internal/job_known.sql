-- Whether a tenant has a job. A function for the reason of writ_data.workflow_known.
create or replace function writ_data.job_known(p_job_id uuid, p_tenant_id text) returns boolean
language plpgsql stable
as $$
begin
  return exists (
    select from writ_data.job where job_id = p_job_id and tenant_id = p_tenant_id
  );
end $$;
