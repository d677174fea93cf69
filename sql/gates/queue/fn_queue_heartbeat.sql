-- A worker says that it lives, what it serves, and whether it waits for a wake-up (p_idle_seconds from now). Answers {at: the database's clock, alone: kinds of p_kinds with jobs that may only run alone}.
-- Callers: writ_worker, writ_applier, writ_engine
create or replace function writ.fn_queue_heartbeat(p_executor_id text, p_executor_kind text, p_domain_scope text[], p_cadence_seconds integer,
  p_kinds text[] default '{}', p_idle_seconds double precision default null, p_details jsonb default '{}') returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := writ.now();
begin
  if coalesce(btrim(p_executor_id), '') = '' then
    return writ_data.refusal('actor_required', 'A worker has a name.');
  elsif p_executor_id like 'MOT:%' then
    return writ_data.refusal('generator_forbidden', p_executor_id);
  elsif p_executor_kind is null or p_executor_kind not in
      ('DOT', 'Agent', 'Hermes', 'Codex', 'PG_worker', 'external_worker', 'future_Kestra_adapter') then
    return writ_data.refusal('executor_forbidden', format('%s is not an executor.', coalesce(p_executor_kind, 'Nobody')));
  end if;
  insert into writ_data.queue_worker as w
    (executor_id, executor_kind, domain_scope, kinds, last_beat_at, expected_cadence_seconds, idle_until, details)
  values (p_executor_id, p_executor_kind, p_domain_scope, p_kinds, v_now, p_cadence_seconds, v_now + p_idle_seconds * interval '1 second', p_details)
  on conflict (executor_id) do update set executor_kind = excluded.executor_kind, domain_scope = excluded.domain_scope, kinds = excluded.kinds,
    last_beat_at = excluded.last_beat_at, expected_cadence_seconds = excluded.expected_cadence_seconds, idle_until = excluded.idle_until,
    silent_since = null, details = excluded.details;
  return jsonb_build_object(
    'at', v_now,
    'alone', (
      select coalesce(jsonb_agg(distinct l.job_kind), '[]')
      from writ_data.lane l
      where l.alone and l.job_kind = any (p_kinds)
        and exists (select from writ_data.job_ready r where r.lane_id = l.lane_id)));
end $$;
