-- gate: workflow_admin, dot_executor
-- What has to happen by the clock, in one call that every worker makes and that one of them does at a time: due jobs become
-- claimable, passed deadlines cancel, expired leases are taken back, silent workers are reported.
-- Answers the milliseconds until the next waiting job is due (null: none), so that a worker can call again just then.
create or replace function writ.fn_job_tick(p_actor text) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
declare
  v_now timestamptz := writ.now();
  v_promoted uuid[]; v_kinds text[]; v_late uuid[]; v_attempts smallint[]; v_nos smallint[]; v_reaped jsonb; v_silent text[];
begin
  if not pg_try_advisory_xact_lock(hashtextextended('writ.fn_job_tick', 0)) then
    return jsonb_build_object('busy', true, 'next_due_ms', (select ceil(extract(epoch from greatest(min(due_at), v_now) - v_now) * 1000) from writ_data.job_wait having min(due_at) is not null));
  end if;

  with late as (
    delete from writ_data.job_ready where ctid = any (array(
      select ctid from writ_data.job_ready where deadline_at <= v_now limit 1000 for update skip locked))
    returning job_id, attempts, execution_no
  ), late_waiting as (
    delete from writ_data.job_wait where ctid = any (array(
      select ctid from writ_data.job_wait where deadline_at <= v_now limit 1000 for update skip locked))
    returning job_id, attempts, execution_no
  )
  select array_agg(job_id), array_agg(attempts), array_agg(execution_no) into v_late, v_attempts, v_nos
  from (select * from late union all select * from late_waiting) x;
  if v_late is not null then
    v_late := writ_data.end_unleased(v_late, v_attempts, v_nos, 'deadline_exceeded', 'The deadline passed before a worker was free.', v_now);
    perform writ_data.record('fn_job_tick', p_actor, v_now, v_late, array['dot.job.cancelled'], array[1], array[cardinality(v_late)],
      jsonb_build_object('code', 'deadline_exceeded'));
  end if;

  with due as (
    delete from writ_data.job_wait where ctid = any (array(
      select ctid from writ_data.job_wait where due_at <= v_now order by due_at limit 5000 for update skip locked))
    returning *
  ), ready as (
    insert into writ_data.job_ready (job_kind, tenant_id, priority, seq, job_id, attempts, execution_no, deadline_at)
    select job_kind, tenant_id, priority, nextval('writ_data.job_ready_seq'), job_id, attempts, execution_no, deadline_at
    from (select * from due order by due_at, job_id) d
    returning job_id, job_kind
  )
  select array_agg(job_id), array_agg(distinct job_kind) into v_promoted, v_kinds from ready;
  if v_promoted is not null then
    perform writ_data.wake(v_kinds, v_now);
  end if;

  v_reaped := writ.fn_job_lease_reaper(p_actor);

  with silent as (
    update writ_data.queue_worker w set silent_since = v_now
    where w.silent_since is null
      and w.last_beat_at < v_now - 2 * (writ_data.setting('queue.heartbeat.stale_threshold_seconds'))::double precision * interval '1 second'
    returning w.executor_id
  )
  select array_agg(executor_id) into v_silent from silent;
  if v_silent is not null then
    perform writ_data.record('fn_job_tick', p_actor, v_now, array(select '00000000-0000-0000-0000-000000000000'::uuid from unnest(v_silent)),
      array['system.queue_worker_silent'], array[1], array[cardinality(v_silent)], jsonb_build_object('executors', to_jsonb(v_silent)));
  end if;

  return jsonb_build_object('promoted', coalesce(cardinality(v_promoted), 0), 'late', coalesce(cardinality(v_late), 0), 'reaped', v_reaped,
    'next_due_ms', (select ceil(extract(epoch from greatest(min(due_at), v_now) - v_now) * 1000) from writ_data.job_wait having min(due_at) is not null));
end $$;
