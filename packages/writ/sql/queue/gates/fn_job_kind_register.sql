-- Registers a kind of job, or changes what a definition says about it.
-- Callers: writ_producer, writ_worker, writ_applier, writ_server, writ_admin
-- Answers: {registered: kind}, and kept: [field, …] for the fields that were given and stay as they
--          are. Every change, and everything kept, is recorded with the values before and after.
--          conflict: the actor of the last change, if within a day this change brings back what
--          that one replaced. Two processes then disagree, and the alert KIND_CONFLICT is raised.
-- Refuses: actor_required, invalid_actor, invalid_job_kind, invalid_job_definition,
--          unknown_executor, reserved_job_kind.
-- Locks:   the row of the kind, and only to change it.
--
-- The first definition stands. A later one changes only the fields that it names; a field that is
-- null is taken away, so {} changes nothing. Who may change what stands:
--   writ_worker, writ_applier   attempts, delays, timeout and limits
--   writ_admin                  also executor, domain and source system: jobs in the queue and the
--                               workers that claim them depend on those
-- A login that is bound to a tenant, or only enqueues, changes nothing, because all tenants share a
-- kind. A kind that a bound login registers first has no limits, because limits apply to all
-- tenants. A producer that starts before its worker is upgraded continues, and the record shows
-- what it sent. Only writ_applier registers kinds in governance. and governor. The kinds that Writ
-- installs (registered_by 'migration') never change.
create or replace function writ.fn_job_kind_register(
  p_kind text,
  p_definition jsonb,
  p_actor text
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  v_standing writ_data.job_kind;
  v_new writ_data.job_kind;
  v_asked writ_data.job_kind;       -- as the definition has it
  v_wrong text;
  v_kept text[];
  v_note text;
  v_conflict text;                  -- who made the change that this one takes back
begin
  -- Validate.

  if coalesce(btrim(p_actor), '') = '' then
    return writ_data.refused('fn_job_kind_register', p_actor, 'actor_required');
  elsif length(p_actor) > 200 or p_actor = 'migration' then
    return writ_data.refused('fn_job_kind_register', p_actor, 'invalid_actor');
  elsif p_kind is null or p_kind !~ '^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,199}$' then
    return writ_data.refused('fn_job_kind_register', p_actor, 'invalid_job_kind');
  elsif jsonb_typeof(p_definition) is distinct from 'object' then
    return writ_data.refused(
      'fn_job_kind_register', p_actor, 'invalid_job_definition', 'A definition is an object.'
    );
  elsif p_definition - '{event_domain,executor,source_system,max_attempts,backoff_base_s}'::text[]
    - '{backoff_cap_s,timeout_s,limit_concurrency,limit_rate,limit_burst}'::text[] <> '{}'
  then
    return writ_data.refused(
      'fn_job_kind_register', p_actor,
      'invalid_job_definition', 'It has a field that no definition has.'
    );
  elsif coalesce(p_definition ->> 'executor', 'external_worker') not in (
    'DOT', 'Agent', 'Hermes', 'Codex', 'PG_worker', 'external_worker', 'future_Kestra_adapter'
  ) then
    return writ_data.refused(
      'fn_job_kind_register', p_actor, 'unknown_executor', left(p_definition ->> 'executor', 200)
    );
  end if;

  -- Read the current definition without a lock, because nearly every registration repeats it.

  select * into v_standing from writ_data.job_kind where job_kind = p_kind;
  v_new := writ_data.defined_kind(v_standing, p_kind, p_definition);
  v_wrong := writ_data.wrong_with_kind(v_new);
  if v_wrong is not null then
    return writ_data.refused('fn_job_kind_register', p_actor, 'invalid_job_definition', v_wrong);
  elsif v_new is not distinct from v_standing then
    return jsonb_build_object('registered', p_kind);
  elsif starts_with(p_kind, 'writ.')
    or writ_data.reserved_kind(p_kind) and not writ_data.caller_has('writ_applier')
  then
    return writ_data.refused('fn_job_kind_register', p_actor, 'reserved_job_kind', p_kind);
  end if;

  -- New.

  if v_standing.job_kind is null then
    if writ_data.caller_tenant() is not null then
      v_kept := array(
        select k from jsonb_object_keys(p_definition) k where starts_with(k, 'limit_') order by k
      );
      v_new.limit_concurrency := null;
      v_new.limit_rate := null;
      v_new.limit_burst := null;
    end if;
    v_new.registered_by := p_actor;
    v_new.registered_at := v_now;
    insert into writ_data.job_kind select v_new.* on conflict do nothing;
    if found then
      perform writ_data.record(
        'fn_job_kind_register', p_actor, v_now, '{}', '{}', '{}', '{}', p_note => p_kind
      );
      return jsonb_strip_nulls(jsonb_build_object(
        'registered', p_kind, 'kept', case when v_kept <> '{}' then to_jsonb(v_kept) end
      ));
    end if;
  end if;

  -- Different: lock the row, and find the fields that this caller may change.

  select * into v_standing from writ_data.job_kind where job_kind = p_kind for no key update;
  v_asked := writ_data.defined_kind(v_standing, p_kind, p_definition);
  v_new := v_standing;
  if v_standing.registered_by <> 'migration' and writ_data.caller_tenant() is null and (
    writ_data.caller_has('writ_worker') or writ_data.caller_has('writ_applier')
    or writ_data.caller_has('writ_admin')
  ) then
    v_new := v_asked;
    if not writ_data.caller_has('writ_admin') then
      v_new.event_domain := v_standing.event_domain;
      v_new.executor := v_standing.executor;
      v_new.source_system := v_standing.source_system;
    end if;
  end if;
  v_kept := array(
    select a.key
    from jsonb_each(to_jsonb(v_asked)) a
    where a.value is distinct from to_jsonb(v_new) -> a.key
    order by a.key
  );

  -- Write, record and answer.

  select string_agg(format('%s %s → %s', a.key, to_jsonb(v_standing) -> a.key, a.value), ', ')
  into v_note
  from jsonb_each(to_jsonb(v_new)) a
  where a.value is distinct from to_jsonb(v_standing) -> a.key;
  if v_new is distinct from v_standing then
    if v_standing.former = writ_data.definition_of(v_new)
      and v_standing.registered_at > v_now - interval '1 day'
    then
      v_conflict := v_standing.registered_by;
    end if;
    v_new.registered_by := p_actor;
    v_new.registered_at := v_now;
    update writ_data.job_kind
    set event_domain = v_new.event_domain, executor = v_new.executor,
      source_system = v_new.source_system, max_attempts = v_new.max_attempts,
      backoff_base_s = v_new.backoff_base_s, backoff_cap_s = v_new.backoff_cap_s,
      timeout_s = v_new.timeout_s, limit_concurrency = v_new.limit_concurrency,
      limit_rate = v_new.limit_rate, limit_burst = v_new.limit_burst,
      registered_by = v_new.registered_by, registered_at = v_new.registered_at,
      former = writ_data.definition_of(v_standing)
    where job_kind = p_kind;
  end if;
  if v_conflict is not null then
    perform writ_data.raise_alert(
      'KIND_CONFLICT', 'P2', null, 'kind/' || p_kind,
      jsonb_build_object('changed', v_note, 'by', p_actor, 'before_by', v_conflict), p_actor, v_now
    );
  end if;
  if v_new is distinct from v_standing or v_kept <> '{}' then
    perform writ_data.record(
      'fn_job_kind_register', p_actor, v_now, '{}', '{}', '{}', '{}',
      p_note => concat_ws(
        '; ', p_kind || ': ' || coalesce(v_note, 'unchanged'),
        case when v_kept <> '{}' then 'kept ' || array_to_string(v_kept, ', ') end
      )
    );
  end if;
  return jsonb_strip_nulls(jsonb_build_object(
    'registered', p_kind, 'kept', case when v_kept <> '{}' then to_jsonb(v_kept) end,
    'conflict', v_conflict
  ));
exception when data_exception or check_violation then
  return writ_data.refused(
    'fn_job_kind_register', p_actor, 'invalid_job_definition', left(sqlerrm, 500)
  );
end $$;
