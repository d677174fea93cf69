-- What a job was given and what it answered: {input, result}, each missing when there is none. Refuses a job that this tenant does not have.
-- Callers: writ_producer, writ_worker, writ_applier, writ_server, writ_admin
create or replace function writ.fn_job_payload(p_job_id uuid, p_tenant_id text default null) returns jsonb
  language sql security definer set search_path = pg_catalog, pg_temp as $$
  select coalesce((select case when j.input is null then '{}' else jsonb_build_object('input', j.input) end || coalesce((
      select jsonb_build_object('result', e.result) from writ_data.job_execution e
      where e.job_id = j.job_id and e.status in ('COMMITTED', 'DONE') and e.result is not null), '{}')
    from writ_data.job j where j.job_id = p_job_id and j.tenant_id = coalesce(p_tenant_id, j.tenant_id) and writ_data.visible(j.tenant_id)),
    writ_data.refusal('job_not_found', p_job_id::text))
$$;
