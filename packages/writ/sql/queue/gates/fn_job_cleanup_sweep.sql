-- Jobs past their retention become cleaned, and their keys are free again: succeeded and cancelled ones, and, after a longer time, dead letters that nobody
-- has replayed. Bounded: call it until it answers 0; the clockwork does it once a minute. It goes through the jobs in the order of their ids, and when it is through begins again,
-- for those that had not ended when it passed; jobs that are to stay, and those cleaned before, are passed over, a hundred thousand in one call at most. One sweeps at a time; another answers busy.
-- Callers: writ_engine, writ_admin
create or replace function writ.fn_job_cleanup_sweep(p_limit integer default 10000, p_actor text default 'sweep') returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  v_now timestamptz := writ.now();
  v_before timestamptz := v_now - (writ_data.setting('queue.retention.finished_sec'))::double precision * interval '1 second';
  v_dead_before timestamptz := v_now - (writ_data.setting('queue.retention.dead_letter_sec'))::double precision * interval '1 second';
  v_upto uuid := writ_data.uuid_floor(least(greatest(v_before, v_dead_before), clock_timestamp() + interval '1 day'));
  v_beginning constant uuid := '00000000-0000-0000-0000-000000000000'; v_from uuid; v_last uuid; v_found integer; v_jobs uuid[];
  v_limit integer := least(coalesce(p_limit, 10000), 100000); v_look constant integer := 100000;
begin
  if coalesce(btrim(p_actor), '') = '' then
    return writ_data.refusal('actor_required');
  elsif length(p_actor) > 200 then
    return writ_data.refusal('invalid_actor');
  elsif v_limit <= 0 or not coalesce((writ_data.setting('queue.job_substrate.enabled'))::boolean, false) then
    return jsonb_build_object('cleaned', 0);
  elsif not writ_data.take_turn('sweep') then
    return jsonb_build_object('cleaned', 0, 'busy', true);
  end if;
  select swept_upto into v_from from writ_data.clockwork;
  for v_pass in 1 .. 2 loop
    with seen as (
      select e.job_id, e.finished_at, case when e.status = 'DONE' then 'succeeded' when e.abort_kind = 'cancelled' then 'cancelled' when e.final then 'dead_letter' end as was
      from writ_data.job_execution e
      where e.job_id > v_from and e.job_id < v_upto and (e.status in ('COMMITTED', 'DONE') or e.final)
      order by e.job_id limit v_look
    ), old as (
      select s.job_id, s.was from seen s
      where s.finished_at < case s.was when 'dead_letter' then v_dead_before else v_before end
        and not exists (select from writ_data.job_cleaned c where c.job_id = s.job_id)
      order by s.job_id limit v_limit
    ), cleaned as (
      insert into writ_data.job_cleaned (job_id, cleaned_at, was) select job_id, v_now, was from old on conflict do nothing returning job_id
    ), keys as (
      delete from writ_data.job_key k using writ_data.job j
      where j.job_id in (select job_id from cleaned) and k.tenant_id = j.tenant_id and k.job_kind = j.job_kind
        and k.idempotency_key = j.idempotency_key and k.job_id = j.job_id
    )
    select (select array_agg(job_id order by job_id) from cleaned), count(*), (array_agg(o.job_id order by o.job_id desc))[1] into v_jobs, v_found, v_last from old o;
    if v_found < v_limit then
      -- All that was looked at is done: on from its end, or from the beginning when there was no more.
      v_last := coalesce((select e.job_id from writ_data.job_execution e
        where e.job_id > v_from and e.job_id < v_upto and (e.status in ('COMMITTED', 'DONE') or e.final) order by e.job_id offset v_look - 1 limit 1), v_beginning);
    end if;
    -- Nothing found up to the end: look from the beginning now.
    exit when v_jobs is not null or v_last <> v_beginning or v_from = v_beginning;
    v_from := v_beginning;
  end loop;
  update writ_data.clockwork set swept_upto = v_last where swept_upto <> v_last;
  if v_jobs is not null then
    perform writ_data.record('fn_job_cleanup_sweep', p_actor, v_now, v_jobs, array['dot.job.cleaned'], array[1], array[cardinality(v_jobs)]);
  end if;
  return jsonb_build_object('cleaned', coalesce(cardinality(v_jobs), 0));
end $$;
