-- gate: workflow_admin
-- Jobs past their retention become cleaned, and their keys are free again: succeeded and cancelled ones, and, after a longer time, dead letters that nobody
-- has replayed. Bounded: call it until it answers 0; the clockwork does it once a minute. It goes through the jobs in the order of their ids, and when it is through begins again,
-- for those that had not ended when it passed. One sweeps at a time; another answers busy.
create or replace function writ.fn_job_cleanup_sweep(p_limit integer default 10000, p_actor text default 'sweep') returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
declare
  v_now timestamptz := writ.now();
  v_before timestamptz := v_now - (writ_data.setting('queue.retention.finished_sec'))::double precision * interval '1 second';
  v_dead_before timestamptz := v_now - (writ_data.setting('queue.retention.dead_letter_sec'))::double precision * interval '1 second';
  v_upto uuid := writ_data.uuid_floor(least(greatest(v_before, v_dead_before), clock_timestamp() + interval '1 day'));
  v_from uuid; v_last uuid; v_seen integer; v_jobs uuid[]; v_limit integer := least(greatest(p_limit, 0), 100000);
begin
  if not coalesce((writ_data.setting('queue.job_substrate.enabled'))::boolean, false) then
    return jsonb_build_object('cleaned', 0);
  elsif not pg_try_advisory_xact_lock(hashtextextended('writ.fn_job_cleanup_sweep', 0)) then
    return jsonb_build_object('cleaned', 0, 'busy', true);
  end if;
  select swept_upto into v_from from writ_data.clockwork;
  for v_pass in 1 .. 2 loop
    with seen as materialized (
      select e.job_id, e.finished_at, e.final, e.abort_kind, e.status from writ_data.job_execution e
      where e.job_id > v_from and e.job_id < v_upto and (e.status in ('COMMITTED', 'DONE') or e.final)
      order by e.job_id limit v_limit
    ), old as (
      select job_id, case when status = 'DONE' then 'succeeded' when abort_kind = 'cancelled' then 'cancelled' else 'dead_letter' end as was
      from seen where status <> 'COMMITTED' and finished_at < case when final and abort_kind <> 'cancelled' then v_dead_before else v_before end
    ), cleaned as (
      insert into writ_data.job_cleaned (job_id, cleaned_at, was) select job_id, v_now, was from old on conflict do nothing returning job_id
    ), keys as (
      delete from writ_data.job_key k using writ_data.job j
      where j.job_id in (select job_id from cleaned) and k.tenant_id = j.tenant_id and k.job_kind = j.job_kind
        and k.idempotency_key = j.idempotency_key and k.job_id = j.job_id
    )
    select (select array_agg(job_id) from cleaned), count(*), (select s.job_id from seen s order by s.job_id desc limit 1) into v_jobs, v_seen, v_last from seen;
    -- A whole pass took up fewer than asked for: the next begins at the beginning. Nothing found at the end: look from the beginning now.
    v_last := case when v_seen < v_limit then '00000000-0000-0000-0000-000000000000'::uuid else v_last end;
    exit when v_jobs is not null or v_seen = v_limit or v_from = '00000000-0000-0000-0000-000000000000';
    v_from := '00000000-0000-0000-0000-000000000000';
  end loop;
  update writ_data.clockwork set swept_upto = v_last where swept_upto <> v_last;
  if v_jobs is not null then
    perform writ_data.record('fn_job_cleanup_sweep', p_actor, v_now, v_jobs, array['dot.job.cleaned'], array[1], array[cardinality(v_jobs)]);
  end if;
  return jsonb_build_object('cleaned', coalesce(cardinality(v_jobs), 0));
end $$;
