-- Registers a consumer, or changes one. A consumer enqueues one job of p_job_kind for each fact of
-- p_event_type.
-- Callers: writ_admin
-- Answers: {registered: consumer}. A new consumer follows facts from now on; a changed one
--          keeps its position.
-- Refuses: actor_required, invalid_actor, tenant_forbidden, invalid_consumer, unknown_event_type,
--          reserved_job_kind, unknown_job_kind, consumer_loop.
-- Locks:   the row of the consumer.
--
-- A consumer never sees facts about jobs of the kind that it enqueues, and naming that kind as the
-- subject is refused, because the consumer would feed itself for ever. The gate does not detect a
-- circle of two consumers.
create or replace function writ.fn_consumer_register(
  p_consumer text,
  p_event_type text,
  p_job_kind text,
  p_options jsonb,                  -- subject_kind, subject_domain: only facts about such jobs;
                                    -- priority, delay_ms, max_attempts
  p_actor text
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  v_options jsonb := coalesce(p_options, '{}');
begin
  if coalesce(btrim(p_actor), '') = '' then
    return writ_data.refused('fn_consumer_register', p_actor, 'actor_required');
  elsif length(p_actor) > 200 then
    return writ_data.refused('fn_consumer_register', p_actor, 'invalid_actor');
  elsif writ_data.caller_tenant() is not null then
    return writ_data.refused(
      'fn_consumer_register', p_actor,
      'tenant_forbidden', 'Consumers follow the facts of all tenants.'
    );
  elsif coalesce(p_consumer, '') !~ '^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,199}$' then
    return writ_data.refused(
      'fn_consumer_register', p_actor,
      'invalid_consumer',
      'Its name has 1 to 200 letters, digits and _ . : / - beginning with a letter or digit.'
    );
  elsif jsonb_typeof(v_options) <> 'object' then
    return writ_data.refused(
      'fn_consumer_register', p_actor, 'invalid_consumer', 'Options are an object.'
    );
  elsif v_options - '{subject_kind,subject_domain,priority,delay_ms,max_attempts}'::text[] <> '{}'
  then
    return writ_data.refused(
      'fn_consumer_register', p_actor,
      'invalid_consumer',
      'The options are subject_kind, subject_domain, priority, delay_ms and max_attempts.'
    );
  elsif not exists (
    select from writ_data.event_type_registry where event_type = p_event_type
  ) then
    return writ_data.refused(
      'fn_consumer_register', p_actor, 'unknown_event_type', left(p_event_type, 200)
    );
  elsif writ_data.reserved_kind(p_job_kind) then
    return writ_data.refused(
      'fn_consumer_register', p_actor, 'reserved_job_kind', left(p_job_kind, 200)
    );
  elsif not exists (select from writ_data.job_kind where job_kind = p_job_kind) then
    return writ_data.refused(
      'fn_consumer_register', p_actor, 'unknown_job_kind', left(p_job_kind, 200)
    );
  elsif v_options ->> 'subject_kind' is not null and not exists (
    select from writ_data.job_kind where job_kind = v_options ->> 'subject_kind'
  ) then
    return writ_data.refused(
      'fn_consumer_register', p_actor, 'unknown_job_kind', left(v_options ->> 'subject_kind', 200)
    );
  elsif v_options ->> 'subject_kind' = p_job_kind then
    return writ_data.refused(
      'fn_consumer_register', p_actor, 'consumer_loop', format('%s → %s', p_job_kind, p_job_kind)
    );
  end if;

  insert into writ_data.consumer_registry as c (
    consumer, event_type, subject_kind, subject_domain, job_kind, priority, delay_ms,
    max_attempts, registered_by, registered_at
  )
  select
    p_consumer, p_event_type, o.subject_kind, o.subject_domain, p_job_kind,
    coalesce(o.priority, 0), coalesce(o.delay_ms, 0), o.max_attempts, p_actor, v_now
  from jsonb_to_record(v_options) o(
    subject_kind text, subject_domain text, priority smallint, delay_ms bigint,
    max_attempts smallint
  )
  on conflict (consumer) do update set
    event_type = excluded.event_type, subject_kind = excluded.subject_kind,
    subject_domain = excluded.subject_domain, job_kind = excluded.job_kind,
    priority = excluded.priority, delay_ms = excluded.delay_ms,
    max_attempts = excluded.max_attempts, registered_by = excluded.registered_by,
    registered_at = excluded.registered_at
  where (
    c.event_type, c.subject_kind, c.subject_domain, c.job_kind, c.priority, c.delay_ms,
    c.max_attempts
  ) is distinct from (
    excluded.event_type, excluded.subject_kind, excluded.subject_domain, excluded.job_kind,
    excluded.priority, excluded.delay_ms, excluded.max_attempts
  );
  if found then
    -- It begins at the end: what is older than the oldest open transaction was recorded before now.
    insert into writ_data.consumer_position (consumer, since, position, moved_at)
    values (
      p_consumer, writ_data.uuid_floor(clock_timestamp()),
      (select b.start from writ_data.record_bounds(null) b), v_now
    )
    on conflict do nothing;
    perform writ_data.record(
      'fn_consumer_register', p_actor, v_now, '{}', '{}', '{}', '{}',
      p_note => format('%s: %s → %s %s', p_consumer, p_event_type, p_job_kind, v_options)
    );
  end if;
  return jsonb_build_object('registered', p_consumer);
exception when data_exception or check_violation then
  return writ_data.refused('fn_consumer_register', p_actor, 'invalid_consumer', left(sqlerrm, 500));
end $$;
