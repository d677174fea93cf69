-- Fires ticks of schedules: the body of fn_schedule_fire, for items that are well formed.
-- Answers: fired; moved; refused: [{tenant, schedule, reason, detail}], of jobs that the queue
--          refuses. When it refuses the call, moved is 0 and refused has its reason once.
-- Locks:   the schedules, passing over what another session holds: that session is firing or
--          changing it.
create or replace function writ_data.fire_schedules(
  p_due jsonb,
  p_actor text,
  p_at timestamptz,
  out fired integer,
  out moved integer,
  out refused jsonb
)
language plpgsql
as $$
declare
  v_kept_since timestamptz := p_at - interval '1 second'
    * (writ_data.setting('queue.retention.finished_sec'))::double precision;
  v_held jsonb;                     -- [{tenant_id, schedule, ticks, move_to}]
  v_jobs jsonb;
  v_answer jsonb := '{}'::jsonb;
  v_fired uuid[];
begin
  fired := 0;
  moved := 0;
  refused := '[]';

  -- Lock. A schedule takes as many of its ticks as make 32 MB of jobs, and waits for the next of
  -- them: a large input and a long absence would otherwise never fire.

  select jsonb_agg(jsonb_build_object(
    'tenant_id', h.tenant_id,
    'schedule', h.schedule,
    'ticks', to_jsonb(t.ticks[:m.most]),
    'move_to', coalesce(t.ticks[m.most + 1], h.move_to)
  ))
  into v_held
  from (
    select s.tenant_id, s.schedule, s.job, a.ticks, a.move_to
    from jsonb_to_recordset(p_due) a(
      tenant text, schedule text, version integer, next_tick timestamptz, ticks timestamptz[],
      move_to timestamptz
    )
    join writ_data.schedule s
      on s.tenant_id = a.tenant and s.schedule = a.schedule
      and s.version = a.version and s.next_tick = a.next_tick
    where s.paused_at is null and writ_data.visible(s.tenant_id)
    order by s.tenant_id, s.schedule
    for update of s skip locked
  ) h
  cross join lateral (
    select array(select distinct u.tick from unnest(h.ticks) u(tick) order by 1) as ticks
  ) t
  cross join lateral (
    select greatest(1, 33554432 / (500 + octet_length(h.job::text))) as most
  ) m;
  if v_held is null then
    return;
  end if;

  -- Enqueue.

  select jsonb_agg(writ_data.schedule_job(s, t.tick) order by t.tick, s.tenant_id, s.schedule)
  into v_jobs
  from jsonb_to_recordset(v_held) h(tenant_id text, schedule text, ticks timestamptz[])
  join writ_data.schedule s using (tenant_id, schedule)
  cross join lateral unnest(h.ticks) t(tick)
  where not exists (
    select from writ_data.schedule_tick f
    where f.tenant_id = s.tenant_id and f.schedule = s.schedule and f.tick = t.tick
  );
  if v_jobs is not null then
    v_answer := writ_data.enqueue_jobs(v_jobs, p_actor);
    if v_answer ? 'reason' then
      refused := jsonb_build_array(v_answer - 'refused');
      return;
    end if;
  end if;

  -- The jobs of one schedule differ in nothing that the queue refuses for: one reason stands for
  -- all of them.
  select coalesce(jsonb_agg(to_jsonb(r)), '[]')
  into refused
  from (
    select distinct on (j.job ->> 'tenant', j.job #>> '{safe_payload,schedule}')
      j.job ->> 'tenant' as tenant, j.job #>> '{safe_payload,schedule}' as schedule,
      e.reason, e.detail
    from jsonb_to_recordset(v_answer -> 'refused') e(index integer, reason text, detail text)
    cross join lateral (select v_jobs -> e.index as job) j
    order by 1, 2, e.index
  ) r;

  -- Write the ticks, and move the schedules on.

  with ticked as (
    insert into writ_data.schedule_tick (tenant_id, schedule, tick, job_id, fired_at, fired_by)
    select
      j.job ->> 'tenant', j.job #>> '{safe_payload,schedule}',
      (j.job #>> '{safe_payload,tick}')::timestamptz,
      coalesce(d.job_id, (j.job ->> 'id')::uuid), p_at, p_actor
    from jsonb_array_elements(v_jobs) with ordinality j(job, n)
    left join jsonb_to_recordset(v_answer -> 'duplicates') d(index integer, job_id uuid)
      on d.index = j.n - 1
    where not exists (
      select from jsonb_to_recordset(refused) r(tenant text, schedule text)
      where r.tenant = j.job ->> 'tenant' and r.schedule = j.job #>> '{safe_payload,schedule}'
    )
    returning job_id
  )
  select coalesce(array_agg(job_id), '{}') into v_fired from ticked;
  update writ_data.schedule s
  set next_tick = h.move_to, aside_until = null
  from jsonb_to_recordset(v_held) h(tenant_id text, schedule text, move_to timestamptz)
  where s.tenant_id = h.tenant_id and s.schedule = h.schedule
    and not exists (
      select from jsonb_to_recordset(refused) r(tenant text, schedule text)
      where r.tenant = s.tenant_id and r.schedule = s.schedule
    );
  get diagnostics moved = row_count;
  fired := cardinality(v_fired);

  -- A tick before next_tick cannot fire again, so its row may go when its job may; the newest
  -- stays, for people to see.
  delete from writ_data.schedule_tick t
  using jsonb_to_recordset(v_held) h(tenant_id text, schedule text)
  where t.tenant_id = h.tenant_id and t.schedule = h.schedule
    and t.tick < v_kept_since and t.fired_at < v_kept_since
    and t.tick < (
      select max(n.tick) from writ_data.schedule_tick n
      where n.tenant_id = h.tenant_id and n.schedule = h.schedule
    );

  if moved > 0 then
    perform writ_data.record(
      'fn_schedule_fire', p_actor, p_at, v_fired, '{}', '{}', '{}',
      p_note => (
        select string_agg(h.tenant_id || '/' || h.schedule, ', ')
        from (
          select * from jsonb_to_recordset(v_held) x(tenant_id text, schedule text) limit 20
        ) h
      )
    );
  end if;
end $$;
