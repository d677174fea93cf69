-- gate: workflow_admin
-- Succeeded and cancelled jobs past their retention become cleaned, and their keys are free again. Bounded: call it until it answers 0. One sweeps at
-- a time; another answers busy.
create or replace function writ.fn_job_cleanup_sweep(p_limit integer default 10000, p_actor text default 'sweep') returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := writ.now();
  v_before timestamptz := v_now - (writ_data.setting('queue.retention.finished_sec'))::double precision * interval '1 second';
  v_jobs uuid[];
begin
  if not coalesce((writ_data.setting('queue.job_substrate.enabled'))::boolean, false) then
    return jsonb_build_object('cleaned', 0);
  elsif not pg_try_advisory_xact_lock(hashtextextended('writ.fn_job_cleanup_sweep', 0)) then
    return jsonb_build_object('cleaned', 0, 'busy', true);
  end if;
  with old as (
    select e.job_id, case e.status when 'DONE' then 'succeeded' else 'cancelled' end as was
    from writ_data.job_execution e
    where e.finished_at < v_before and (e.status = 'DONE' or e.final and e.abort_kind = 'cancelled')
      and not exists (select from writ_data.job_cleaned c where c.job_id = e.job_id)
    limit greatest(p_limit, 0)
  ), cleaned as (
    insert into writ_data.job_cleaned (job_id, cleaned_at, was) select job_id, v_now, was from old on conflict do nothing returning job_id
  ), keys as (
    delete from writ_data.job_key k using writ_data.job j
    where j.job_id in (select job_id from cleaned) and k.tenant_id = j.tenant_id and k.job_kind = j.job_kind
      and k.idempotency_key = j.idempotency_key and k.job_id = j.job_id
  )
  select array_agg(job_id) into v_jobs from cleaned;
  if v_jobs is not null then
    perform writ_data.record('fn_job_cleanup_sweep', p_actor, v_now, v_jobs, array['dot.job.cleaned'], array[1], array[cardinality(v_jobs)]);
  end if;
  return jsonb_build_object('cleaned', coalesce(cardinality(v_jobs), 0));
end $$;
