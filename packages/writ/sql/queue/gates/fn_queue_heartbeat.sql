-- Records that a worker is alive, which kinds it serves, and whether it waits for a wake-up.
-- Callers: writ_worker, writ_applier, writ_engine
-- Answers: {at: the database's clock, alone: those of p_kinds with jobs that may only run alone}.
-- Refuses: actor_required, invalid_actor, generator_forbidden, executor_forbidden,
--          invalid_heartbeat, batch_too_large, payload_too_large.
-- Locks:   the worker's row.
--
-- A worker that waits makes every enqueue of its kinds notify it, and NOTIFY takes a global lock at
-- commit. So a heartbeat covers at most a minute of waiting. Every such enqueue reads all rows, so
-- a login may have a thousand workers at most; the gate removes workers that were silent for a day.
-- A name belongs to its login: another login's worker of the same name keeps its row, and with it
-- its wake-ups. Reserved kinds count only from a login with writ_applier, which alone claims them:
-- fn_contract_review answers from these rows whether an applier runs.
create or replace function writ.fn_queue_heartbeat(
  p_executor_id text,
  p_executor_kind text,
  p_domain_scope text[],
  p_cadence_seconds integer,
  p_kinds text[] default '{}',
  p_idle_seconds double precision default null,
  p_details jsonb default '{}'
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  v_kinds text[] := p_kinds;        -- those that the login may claim
begin
  if coalesce(btrim(p_executor_id), '') = '' then
    return writ_data.refusal('actor_required', 'A worker has a name.');
  elsif length(p_executor_id) > 200 then
    return writ_data.refusal('invalid_actor');
  elsif p_executor_id like 'MOT:%' then
    return writ_data.refusal('generator_forbidden', p_executor_id);
  elsif p_executor_kind is null or p_executor_kind not in (
    'DOT', 'Agent', 'Hermes', 'Codex', 'PG_worker', 'external_worker', 'future_Kestra_adapter'
  ) then
    return writ_data.refusal(
      'executor_forbidden',
      format('%s is not an executor.', coalesce(left(p_executor_kind, 200), 'Nobody'))
    );
  elsif cardinality(p_kinds) > 1000 or cardinality(p_domain_scope) > 100 then
    return writ_data.refusal(
      'batch_too_large', 'A worker has at most 1,000 kinds and 100 domains.'
    );
  elsif octet_length(p_details::text) > 8192
    or octet_length(p_kinds::text) > 262144 or octet_length(p_domain_scope::text) > 8192
  then
    return writ_data.refusal(
      'payload_too_large', 'The details of a worker have at most 8,192 bytes.'
    );
  elsif p_kinds is null or p_domain_scope is null
    or coalesce(jsonb_typeof(p_details), '') <> 'object'
    or p_cadence_seconds is null or p_cadence_seconds not between 1 and 86400
    or p_idle_seconds not between 0 and 3600
  then
    return writ_data.refusal('invalid_heartbeat');
  end if;

  if not writ_data.caller_has('writ_applier') then
    v_kinds := array(
      select k.kind
      from unnest(p_kinds) with ordinality k(kind, n)
      where not writ_data.reserved_kind(k.kind)
      order by k.n
    );
  end if;

  if not exists (
      select from writ_data.queue_worker
      where login = session_user and executor_id = p_executor_id
    )
    and (select count(*) from writ_data.queue_worker where login = session_user) >= 1000
  then
    delete from writ_data.queue_worker
    where login = session_user and last_beat_at < v_now - interval '1 day';
    if not found then
      return writ_data.refusal('batch_too_large', 'A login has at most 1,000 workers.');
    end if;
  end if;

  insert into writ_data.queue_worker as w (
    executor_id, executor_kind, domain_scope, kinds, last_beat_at, expected_cadence_seconds,
    idle_until, details
  ) values (
    p_executor_id, p_executor_kind, p_domain_scope, v_kinds, v_now, p_cadence_seconds,
    -- LEAST ignores null: a worker that does not wait would get notifications.
    case when p_idle_seconds is not null
      then v_now + least(p_idle_seconds, 60) * interval '1 second' end,
    p_details
  )
  on conflict (login, executor_id) do update set
    executor_kind = excluded.executor_kind, domain_scope = excluded.domain_scope,
    kinds = excluded.kinds, last_beat_at = excluded.last_beat_at,
    expected_cadence_seconds = excluded.expected_cadence_seconds,
    idle_until = excluded.idle_until, silent_since = null, details = excluded.details;
  return jsonb_build_object(
    'at', v_now,
    'alone', (
      select coalesce(jsonb_agg(distinct l.job_kind), '[]')
      from writ_data.lane l
      where l.alone and l.job_kind = any (p_kinds)
        and exists (select from writ_data.job_ready r where r.lane_id = l.lane_id)
    )
  );
end $$;
