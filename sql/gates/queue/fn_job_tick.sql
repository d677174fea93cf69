-- What has to happen by the clock, in one call that every worker makes and that one of them does at a time: due jobs become
-- claimable, passed deadlines cancel, expired leases are taken back, silent workers are reported; once a minute lanes, partitions and
-- retention are seen to.
-- Answers the milliseconds until the next waiting job is due (null: none), so that a worker can call again just then.
-- Callers: writ_engine
create or replace function writ.fn_job_tick(p_actor text) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
declare
  v_now timestamptz := writ.now();
  v_promoted uuid[]; v_kinds text[]; v_late uuid[]; v_attempts smallint[]; v_nos integer[]; v_reaped jsonb; v_silent text[]; v_timers integer;
  d_tenants text[]; d_keys text[]; d_priorities smallint[]; d_alone boolean[]; d_deadlines timestamptz[];
begin
  if not writ_data.take_turn('clockwork') then
    return jsonb_build_object('busy', true, 'next_due_ms', (select ceil(extract(epoch from greatest(min(due_at), v_now) - v_now) * 1000) from writ_data.job_wait having min(due_at) < 'infinity'));
  end if;

  perform writ_data.watch_ready(); -- first: it may wait for some milliseconds, and nothing is locked yet

  with late as (
    delete from writ_data.job_ready where ctid = any (array(
      select ctid from writ_data.job_ready where deadline_at <= v_now limit 1000 for update skip locked))
    returning job_ids, attempts, execution_no
  ), late_waiting as (
    delete from writ_data.job_wait where ctid = any (array(
      select ctid from writ_data.job_wait where deadline_at <= v_now limit 1000 for update skip locked))
    returning job_id, attempts, execution_no
  )
  select array_agg(job_id), array_agg(attempts), array_agg(execution_no) into v_late, v_attempts, v_nos
  from (select unnest(job_ids) as job_id, attempts, execution_no from late union all select * from late_waiting) x;
  if v_late is not null then
    v_late := writ_data.end_unleased(v_late, v_attempts, v_nos, 'deadline_exceeded', 'The deadline passed before a worker was free.', v_now);
    perform writ_data.record('fn_job_tick', p_actor, v_now, v_late, array['dot.job.cancelled'], array[1], array[cardinality(v_late)],
      jsonb_build_object('code', 'deadline_exceeded'));
  end if;

  with due as (
    delete from writ_data.job_wait where ctid = any (array(
      select ctid from writ_data.job_wait where due_at <= v_now and job_kind <> all ('{writ.wait,writ.timer}') order by due_at limit 5000 for update skip locked))
    returning *
  )
  select array_agg(d.job_id), array_agg(d.job_kind), array_agg(d.tenant_id), array_agg(d.limit_key), array_agg(d.priority), array_agg(d.alone),
    array_agg(d.attempts), array_agg(d.execution_no), array_agg(d.deadline_at)
  into v_promoted, v_kinds, d_tenants, d_keys, d_priorities, d_alone, v_attempts, v_nos, d_deadlines
  from (select * from due order by due_at, job_id) d;
  if v_promoted is not null then
    perform writ_data.wake(writ_data.make_ready(v_promoted, v_kinds, d_tenants, d_keys, d_priorities, d_alone, v_attempts, v_nos, d_deadlines), v_now);
  end if;

  v_timers := writ_data.timers_due(p_actor, v_now);
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

  perform writ_data.upkeep(v_now, p_actor);

  return jsonb_build_object('promoted', coalesce(cardinality(v_promoted), 0), 'late', coalesce(cardinality(v_late), 0), 'timers', v_timers, 'reaped', v_reaped,
    'alone', (select coalesce(jsonb_agg(distinct l.job_kind), '[]') from writ_data.lane l where l.alone and exists (select from writ_data.job_ready r where r.lane_id = l.lane_id)),
    'next_due_ms', (select ceil(extract(epoch from greatest(min(due_at), v_now) - v_now) * 1000) from writ_data.job_wait having min(due_at) < 'infinity'));
end $$;
