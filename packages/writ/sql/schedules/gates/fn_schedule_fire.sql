-- Fires ticks of schedules that are due: p_due is an array of {tenant, schedule, version, next_tick, ticks, move_to}, where version and next_tick are
-- those that fn_schedule_due answered, ticks are the ones to fire and move_to is the tick to wait for next. In one transaction each tick gets its
-- row and its job, and the schedule moves on. A schedule that has moved, changed or been paused since, or that another call holds at this moment,
-- is left alone. One whose job the queue refuses stays where it is, due.
-- Answers {"fired": n, "moved": n, "refused": [{tenant, schedule, reason, detail}]}.
-- Callers: writ_engine
create or replace function writ.fn_schedule_fire(p_due jsonb, p_actor text) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := writ.now();
  v_kept_since timestamptz := v_now - (writ_data.setting('queue.retention.finished_sec'))::double precision * interval '1 second';
  v_held jsonb; v_jobs jsonb; v_answer jsonb := '{}'; v_refused jsonb; v_fired uuid[]; v_moved integer;
begin
  if coalesce(btrim(p_actor), '') = '' then
    return writ_data.refusal('actor_required');
  elsif jsonb_typeof(p_due) is distinct from 'array' then
    return writ_data.refusal('invalid_ticks', 'What is due is an array.');
  end if;
  begin
    if exists (
      select from jsonb_to_recordset(p_due) a(version integer, next_tick timestamptz, ticks timestamptz[], move_to timestamptz)
      where a.version is null or a.next_tick is null or a.ticks is null or a.move_to is null or a.move_to <= a.next_tick
        or not isfinite(a.move_to) or extract(second from a.move_to) <> 0
        or exists (select from unnest(a.ticks) t(tick)
          where t.tick is null or t.tick > v_now or t.tick < a.next_tick or t.tick >= a.move_to or extract(second from t.tick) <> 0)
    ) then
      return writ_data.refusal('invalid_ticks', 'Ticks are whole minutes, not before next_tick, not after now, and before move_to.');
    end if;
  exception when data_exception or datatype_mismatch then
    return writ_data.refusal('invalid_ticks', sqlerrm);
  end;

  -- Whoever holds a schedule is firing it or changing it: nobody waits here, the next look sees what came of it.
  select jsonb_agg(to_jsonb(h)) into v_held
  from (
    select s.tenant_id, s.schedule, a.ticks, a.move_to
    from jsonb_to_recordset(p_due) a(tenant text, schedule text, version integer, next_tick timestamptz, ticks timestamptz[], move_to timestamptz)
    join writ_data.schedule s on s.tenant_id = a.tenant and s.schedule = a.schedule and s.version = a.version and s.next_tick = a.next_tick
    where s.paused_at is null and writ_data.visible(s.tenant_id)
    order by s.tenant_id, s.schedule
    for update of s skip locked) h;
  if v_held is null then
    return jsonb_build_object('fired', 0, 'moved', 0, 'refused', '[]'::jsonb);
  end if;

  select jsonb_agg(writ_data.schedule_job(s, t.tick) order by t.tick, s.tenant_id, s.schedule) into v_jobs
  from jsonb_to_recordset(v_held) h(tenant_id text, schedule text, ticks timestamptz[])
  join writ_data.schedule s using (tenant_id, schedule)
  cross join lateral (select distinct u.tick from unnest(h.ticks) u(tick)) t
  where not exists (select from writ_data.schedule_tick f where f.tenant_id = s.tenant_id and f.schedule = s.schedule and f.tick = t.tick);
  if v_jobs is not null then
    v_answer := writ_data.enqueue_jobs(v_jobs, p_actor);
    if v_answer ? 'reason' then
      return v_answer;
    end if;
  end if;

  -- The jobs of one schedule differ in nothing that the queue refuses for: one reason stands for all of them.
  select jsonb_agg(to_jsonb(r)) into v_refused
  from (
    select distinct on (j.job ->> 'tenant', j.job #>> '{safe_payload,schedule}') j.job ->> 'tenant' as tenant, j.job #>> '{safe_payload,schedule}' as schedule, e.reason, e.detail
    from jsonb_to_recordset(v_answer -> 'refused') e(index integer, reason text, detail text)
    cross join lateral (select v_jobs -> e.index as job) j
    order by 1, 2, e.index) r;
  with ticked as (
    insert into writ_data.schedule_tick (tenant_id, schedule, tick, job_id, fired_at, fired_by)
    select j.job ->> 'tenant', j.job #>> '{safe_payload,schedule}', (j.job #>> '{safe_payload,tick}')::timestamptz,
      coalesce(d.job_id, (j.job ->> 'id')::uuid), v_now, p_actor
    from jsonb_array_elements(v_jobs) with ordinality j(job, n)
    left join jsonb_to_recordset(v_answer -> 'duplicates') d(index integer, job_id uuid) on d.index = j.n - 1
    where not exists (select from jsonb_to_recordset(v_refused) r(tenant text, schedule text)
      where r.tenant = j.job ->> 'tenant' and r.schedule = j.job #>> '{safe_payload,schedule}')
    returning job_id
  )
  select coalesce(array_agg(job_id), '{}') into v_fired from ticked;
  update writ_data.schedule s set next_tick = h.move_to
  from jsonb_to_recordset(v_held) h(tenant_id text, schedule text, move_to timestamptz)
  where s.tenant_id = h.tenant_id and s.schedule = h.schedule
    and not exists (select from jsonb_to_recordset(v_refused) r(tenant text, schedule text) where r.tenant = s.tenant_id and r.schedule = s.schedule);
  get diagnostics v_moved = row_count;

  -- A tick before next_tick cannot fire again, so its row may go when its job may; the newest stays, for people to see.
  delete from writ_data.schedule_tick t
  using jsonb_to_recordset(v_held) h(tenant_id text, schedule text)
  where t.tenant_id = h.tenant_id and t.schedule = h.schedule and t.tick < v_kept_since and t.fired_at < v_kept_since
    and t.tick < (select max(n.tick) from writ_data.schedule_tick n where n.tenant_id = h.tenant_id and n.schedule = h.schedule);

  if v_moved > 0 then
    perform writ_data.record('fn_schedule_fire', p_actor, v_now, v_fired, '{}', '{}', '{}',
      p_note => (select string_agg(h.tenant_id || '/' || h.schedule, ', ') from (
        select * from jsonb_to_recordset(v_held) x(tenant_id text, schedule text) limit 20) h));
  end if;
  return jsonb_build_object('fired', cardinality(v_fired), 'moved', v_moved, 'refused', coalesce(v_refused, '[]'));
end $$;
