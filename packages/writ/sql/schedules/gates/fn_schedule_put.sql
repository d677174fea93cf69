-- Defines a schedule, or replaces its definition.
-- Callers: writ_producer, writ_server, writ_admin
-- p_version: the version that the caller knows, 0 for none; null: any.
-- Answers: {schedule, changed, next_tick}. Repeating the current definition changes nothing. A
--          new cron or time zone takes effect at p_next_tick, and due ticks of the old definition
--          that have not fired never fire. A new job keeps the ticks. A paused schedule stays
--          paused.
-- Refuses: actor_required, invalid_actor, invalid_schedule, invalid_tenant, tenant_forbidden,
--          invalid_cron, invalid_time_zone, invalid_catch_up, invalid_ticks, payload_too_large,
--          unknown_job_kind, reserved_job_kind, what the queue would refuse its job for, and
--          schedule_moved (with its version).
-- Locks:   the row of the schedule.
create or replace function writ.fn_schedule_put(
  p_schedule text,
  p_definition jsonb,               -- {cron, time_zone, catch_up, kind, job: what each tick
                                    -- enqueues, as fn_job_enqueue_many takes it}
  p_next_tick timestamptz,          -- the first after now, which the caller works out
  p_actor text,
  p_tenant_id text default 'default',
  p_version integer default null
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  v_new writ_data.schedule;
  v_refusal jsonb;
  v_version integer;
  v_next_tick timestamptz;
begin
  -- Validate.

  if coalesce(btrim(p_actor), '') = '' then
    return writ_data.refused('fn_schedule_put', p_actor, 'actor_required');
  elsif length(p_actor) > 200 then
    return writ_data.refused('fn_schedule_put', p_actor, 'invalid_actor');
  elsif p_schedule is null or p_schedule !~ '^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,199}$' then
    return writ_data.refused('fn_schedule_put', p_actor, 'invalid_schedule', left(p_schedule, 200));
  elsif p_tenant_id is null or p_tenant_id = '' or length(p_tenant_id) > 200 then
    return writ_data.refused('fn_schedule_put', p_actor, 'invalid_tenant');
  elsif not writ_data.visible(p_tenant_id) then
    return writ_data.refused('fn_schedule_put', p_actor, 'tenant_forbidden');
  elsif jsonb_typeof(p_definition) is distinct from 'object'
    or jsonb_typeof(p_definition -> 'job') is distinct from 'object'
  then
    return writ_data.refused(
      'fn_schedule_put', p_actor,
      'invalid_schedule', 'A definition is an object, and so is its job.'
    );
  elsif octet_length((p_definition -> 'job')::text)
    > 65536 + (writ_data.setting('queue.payload.max_bytes'))::integer
  then
    -- Unknown fields would otherwise be copied with every tick.
    return writ_data.refused(
      'fn_schedule_put', p_actor, 'payload_too_large',
      format(
        'The job of the schedule has %s bytes; at most %s are allowed, 65536 more than '
        'queue.payload.max_bytes.',
        octet_length((p_definition -> 'job')::text),
        65536 + (writ_data.setting('queue.payload.max_bytes'))::integer
      )
    );
  end if;

  v_new.tenant_id := p_tenant_id;
  v_new.schedule := p_schedule;
  v_new.cron := p_definition ->> 'cron';
  v_new.time_zone := coalesce(p_definition ->> 'time_zone', 'UTC');
  v_new.catch_up := coalesce(p_definition ->> 'catch_up', 'last');
  v_new.job_kind := p_definition ->> 'kind';
  v_new.job := p_definition -> 'job';
  v_new.version := 1;
  v_new.next_tick := p_next_tick;
  v_new.created_at := v_now;
  v_new.created_by := p_actor;
  v_new.updated_at := v_now;
  v_new.updated_by := p_actor;
  if coalesce(v_new.cron, '') !~ '^(@[a-z]+|[^ @]+( [^ ]+){4})$' or length(v_new.cron) > 1000 then
    return writ_data.refused('fn_schedule_put', p_actor, 'invalid_cron', left(v_new.cron, 200));
  elsif v_new.time_zone !~ '^[A-Za-z][A-Za-z0-9_+/-]{0,99}$' then
    return writ_data.refused(
      'fn_schedule_put', p_actor, 'invalid_time_zone', left(v_new.time_zone, 200)
    );
  elsif v_new.catch_up not in ('none', 'last', 'all') then
    return writ_data.refused(
      'fn_schedule_put', p_actor, 'invalid_catch_up', left(v_new.catch_up, 200)
    );
  elsif p_next_tick is null
    or p_next_tick not between '2000-01-01Z' and v_now + interval '100 years'
    or extract(second from p_next_tick) <> 0
  then
    return writ_data.refused(
      'fn_schedule_put', p_actor,
      'invalid_ticks',
      'The next tick is a whole minute, from the year 2000 to a hundred years from now.'
    );
  elsif v_new.job_kind is null then
    return writ_data.refused('fn_schedule_put', p_actor, 'unknown_job_kind');
  elsif writ_data.reserved_kind(v_new.job_kind) then
    return writ_data.refused(
      'fn_schedule_put', p_actor, 'reserved_job_kind', left(v_new.job_kind, 200)
    );
  end if;
  v_refusal := writ_data.schedule_job_refusal(v_new, p_actor);
  if v_refusal is not null then
    return v_refusal;
  end if;

  -- Lock, and check under the lock.

  select version into v_version
  from writ_data.schedule
  where tenant_id = p_tenant_id and schedule = p_schedule
  for update;
  if coalesce(v_version, 0) <> p_version then
    return writ_data.refused(
      'fn_schedule_put', p_actor, 'schedule_moved', format('version %s', coalesce(v_version, 0))
    );
  end if;

  -- Write, record and answer.

  insert into writ_data.schedule as s
  select v_new.*
  on conflict (tenant_id, schedule) do update set
    cron = excluded.cron, time_zone = excluded.time_zone, catch_up = excluded.catch_up,
    job_kind = excluded.job_kind, job = excluded.job, version = s.version + 1,
    aside_until = null, updated_at = excluded.updated_at, updated_by = excluded.updated_by,
    next_tick = case
      when (s.cron, s.time_zone) = (excluded.cron, excluded.time_zone) then s.next_tick
      else excluded.next_tick
    end
  where p_version is distinct from 0
    and (s.cron, s.time_zone, s.catch_up, s.job_kind, s.job)
      <> (excluded.cron, excluded.time_zone, excluded.catch_up, excluded.job_kind, excluded.job)
  returning s.next_tick into v_next_tick;
  if not found and p_version = 0 then
    -- Another call has made it since the check.
    return writ_data.refused('fn_schedule_put', p_actor, 'schedule_moved', 'version 1');
  elsif not found then
    -- The definition is unchanged. The statement above has locked the row, so that stays true.
    return jsonb_build_object(
      'schedule', p_schedule,
      'changed', false,
      'next_tick', (
        select next_tick from writ_data.schedule
        where tenant_id = p_tenant_id and schedule = p_schedule
      )
    );
  end if;
  perform writ_data.record(
    'fn_schedule_put', p_actor, v_now, '{}', '{}', '{}', '{}',
    p_note => format('%s: %s %s', p_schedule, v_new.cron, v_new.time_zone)
  );
  return jsonb_build_object('schedule', p_schedule, 'changed', true, 'next_tick', v_next_tick);
end $$;
