-- Reads the input and the result of a job.
-- Callers: writ_producer, writ_worker, writ_applier, writ_server, writ_admin
-- Answers: {input, result}, each absent if there is none. As json, because a result may hold a NUL
--          character or half a surrogate pair, which jsonb cannot read.
-- Refuses: job_not_found, also for a job of another tenant.
create or replace function writ.fn_job_payload(p_job_id uuid, p_tenant_id text default null)
returns json
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(
    (
      select coalesce(
        (
          select json_object_agg(x.name, x.value)
          from (
            select 'input' as name, j.input as value
            union all
            select 'result', e.result
            from writ_data.job_execution e
            where e.job_id = j.job_id and e.status in ('COMMITTED', 'DONE')
          ) x
          where x.value is not null
        ),
        '{}'
      )
      from writ_data.job j
      where j.job_id = p_job_id and j.tenant_id = coalesce(p_tenant_id, j.tenant_id)
        and writ_data.visible(j.tenant_id)
    ),
    writ_data.refusal('job_not_found', p_job_id::text)::json
  )
$$;
