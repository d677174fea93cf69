-- Whether some of these jobs belong to another tenant than this one. Null jobs belong to nobody.
create or replace function writ_data.foreign_jobs(p_jobs uuid[], p_tenant text) returns boolean
language sql stable
begin atomic
  select exists (
    select from writ_data.job j where j.job_id = any (p_jobs) and j.tenant_id <> p_tenant
  );
end;
