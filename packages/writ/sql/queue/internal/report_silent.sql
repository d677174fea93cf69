-- Records workers that have been silent for twice queue.heartbeat.stale_threshold_seconds, once.
create or replace function writ_data.report_silent(p_actor text, p_at timestamptz) returns void
language plpgsql
set enable_seqscan = off
as $$
declare
  v_threshold interval := 2 * interval '1 second' *
    (writ_data.setting('queue.heartbeat.stale_threshold_seconds'))::double precision;
  v_silent text[];
begin
  with silent as (
    update writ_data.queue_worker w
    set silent_since = p_at
    where w.silent_since is null and w.last_beat_at < p_at - v_threshold
    returning w.executor_id
  )
  select array_agg(executor_id) into v_silent from silent;
  if v_silent is not null then
    perform writ_data.record(
      'fn_job_tick', p_actor, p_at,
      array_fill('00000000-0000-0000-0000-000000000000'::uuid, array[cardinality(v_silent)]),
      array['system.queue_worker_silent'], array[1], array[cardinality(v_silent)],
      jsonb_build_object('executors', to_jsonb(v_silent))
    );
  end if;
exception when others then
  perform writ_data.set_aside('clockwork/silent', null, sqlstate, sqlerrm, p_actor, p_at);
end $$;
