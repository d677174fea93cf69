-- Defines a schedule, or replaces its definition: {cron, time_zone, catch_up, kind, job}, where job is what each tick enqueues, as
-- fn_job_enqueue_many takes it. p_next_tick is the first tick after now, which the caller works out; src/schedules/ does. A definition that
-- is there already changes nothing. One with another cron or time zone begins at p_next_tick: ticks of the old one that are due and have not
-- fired do not fire any more. One with another job keeps its ticks. A paused schedule stays paused.
-- Callers: writ_producer, writ_server, writ_admin
create or replace function writ.fn_schedule_put(p_schedule text, p_definition jsonb, p_next_tick timestamptz, p_actor text, p_tenant_id text default 'default')
  returns jsonb language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := writ.now();
  v_new writ_data.schedule;
  v_refusal jsonb; v_next_tick timestamptz;
begin
  if coalesce(btrim(p_actor), '') = '' then
    return writ_data.refusal('actor_required');
  elsif p_schedule is null or p_schedule !~ '^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,199}$' then
    return writ_data.refusal('invalid_schedule', p_schedule);
  elsif p_tenant_id is null or p_tenant_id = '' or length(p_tenant_id) > 200 then
    return writ_data.refusal('invalid_tenant');
  elsif not writ_data.visible(p_tenant_id) then
    return writ_data.refusal('tenant_forbidden');
  elsif jsonb_typeof(p_definition) is distinct from 'object' or jsonb_typeof(p_definition -> 'job') is distinct from 'object' then
    return writ_data.refusal('invalid_schedule', 'A definition is an object, and so is its job.');
  end if;
  v_new := row(p_tenant_id, p_schedule, p_definition ->> 'cron', coalesce(p_definition ->> 'time_zone', 'UTC'), coalesce(p_definition ->> 'catch_up', 'last'),
    p_definition ->> 'kind', p_definition -> 'job', 1, p_next_tick, null, null, v_now, p_actor, v_now, p_actor)::writ_data.schedule;
  if coalesce(v_new.cron, '') !~ '^(@[a-z]+|[^ @]+( [^ ]+){4})$' or length(v_new.cron) > 1000 then
    return writ_data.refusal('invalid_cron', v_new.cron);
  elsif v_new.time_zone !~ '^[A-Za-z][A-Za-z0-9_+/-]{0,99}$' then
    return writ_data.refusal('invalid_time_zone', v_new.time_zone);
  elsif v_new.catch_up not in ('none', 'last', 'all') then
    return writ_data.refusal('invalid_catch_up', v_new.catch_up);
  elsif p_next_tick is null or not isfinite(p_next_tick) or extract(second from p_next_tick) <> 0 then
    return writ_data.refusal('invalid_ticks', 'The next tick is a whole minute.');
  elsif v_new.job_kind is null then
    return writ_data.refusal('unknown_job_kind');
  elsif writ_data.reserved_kind(v_new.job_kind) then
    return writ_data.refusal('reserved_job_kind', v_new.job_kind);
  end if;
  v_refusal := writ_data.schedule_job_refusal(v_new, p_actor);
  if v_refusal is not null then
    return v_refusal;
  end if;

  insert into writ_data.schedule as s select v_new.*
  on conflict (tenant_id, schedule) do update set cron = excluded.cron, time_zone = excluded.time_zone, catch_up = excluded.catch_up, job_kind = excluded.job_kind,
    job = excluded.job, version = s.version + 1, updated_at = excluded.updated_at, updated_by = excluded.updated_by,
    next_tick = case when (s.cron, s.time_zone) = (excluded.cron, excluded.time_zone) then s.next_tick else excluded.next_tick end
  where (s.cron, s.time_zone, s.catch_up, s.job_kind, s.job) <> (excluded.cron, excluded.time_zone, excluded.catch_up, excluded.job_kind, excluded.job)
  returning s.next_tick into v_next_tick;
  if not found then
    -- There as it is; the statement above has locked it all the same, so it still is.
    return jsonb_build_object('schedule', p_schedule, 'changed', false,
      'next_tick', (select next_tick from writ_data.schedule where tenant_id = p_tenant_id and schedule = p_schedule));
  end if;
  perform writ_data.record('fn_schedule_put', p_actor, v_now, '{}', '{}', '{}', '{}', p_note => format('%s: %s %s', p_schedule, v_new.cron, v_new.time_zone));
  return jsonb_build_object('schedule', p_schedule, 'changed', true, 'next_tick', v_next_tick);
end $$;
