-- Registers a kind, or updates what its definition says. Whoever defines a kind does this on first use, producer or worker.
-- Callers: writ_producer, writ_worker, writ_applier, writ_server
create or replace function writ.fn_job_kind_register(p_kind text, p_definition jsonb, p_actor text) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_at timestamptz := writ.now();
begin
  if coalesce(btrim(p_actor), '') = '' then
    return writ_data.refusal('actor_required');
  elsif p_kind is null or p_kind !~ '^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,199}$' then
    return writ_data.refusal('invalid_job_kind');
  elsif jsonb_typeof(p_definition) is distinct from 'object' then
    return writ_data.refusal('invalid_job_definition', 'A definition is an object.');
  elsif coalesce(p_definition ->> 'executor', 'external_worker') not in
      ('DOT', 'Agent', 'Hermes', 'Codex', 'PG_worker', 'external_worker', 'future_Kestra_adapter') then
    return writ_data.refusal('unknown_executor', p_definition ->> 'executor');
  end if;
  insert into writ_data.job_kind as k
    (job_kind, event_domain, executor, source_system, max_attempts, backoff_base_s, backoff_cap_s, timeout_s,
     limit_concurrency, limit_rate, limit_burst, registered_by, registered_at)
  select p_kind, coalesce(d.event_domain, 'dot'), coalesce(d.executor, 'external_worker'), coalesce(d.source_system, 'writ'),
    d.max_attempts, d.backoff_base_s, d.backoff_cap_s, d.timeout_s,
    d.limit_concurrency, d.limit_rate, case when d.limit_rate is not null then coalesce(d.limit_burst, 1) end, p_actor, v_at
  from jsonb_to_record(p_definition) d(event_domain text, executor text, source_system text, max_attempts smallint,
    backoff_base_s double precision, backoff_cap_s double precision, timeout_s double precision,
    limit_concurrency integer, limit_rate double precision, limit_burst double precision)
  on conflict (job_kind) do update set
    event_domain = excluded.event_domain, executor = excluded.executor, source_system = excluded.source_system,
    max_attempts = excluded.max_attempts, backoff_base_s = excluded.backoff_base_s, backoff_cap_s = excluded.backoff_cap_s,
    timeout_s = excluded.timeout_s, limit_concurrency = excluded.limit_concurrency, limit_rate = excluded.limit_rate, limit_burst = excluded.limit_burst,
    registered_by = excluded.registered_by, registered_at = excluded.registered_at
  where (k.event_domain, k.executor, k.source_system, k.max_attempts, k.backoff_base_s, k.backoff_cap_s, k.timeout_s,
    k.limit_concurrency, k.limit_rate, k.limit_burst)
    is distinct from (excluded.event_domain, excluded.executor, excluded.source_system, excluded.max_attempts,
      excluded.backoff_base_s, excluded.backoff_cap_s, excluded.timeout_s, excluded.limit_concurrency, excluded.limit_rate, excluded.limit_burst);
  if found then
    perform writ_data.record('fn_job_kind_register', p_actor, v_at, '{}', '{}', '{}', '{}', p_note => p_kind);
  end if;
  return jsonb_build_object('registered', p_kind);
exception when data_exception or check_violation then
  return writ_data.refusal('invalid_job_definition', sqlerrm);
end $$;
