-- Enqueues the jobs of every consumer of one fact, at once or again. Workers do this for new facts
-- (fn_consumer_dispatch_many); this is for a fact that is older than its consumer, or was left out.
-- Callers: writ_engine, writ_admin
-- Answers: {event_id, enqueued, jobs: [{consumer, job_id, duplicate}]}. Each consumer's job for a
--          fact has a key, so a repeat enqueues nothing for as long as that job is retained.
-- Refuses: actor_required, invalid_actor, event_not_found (also for another tenant's), and the
--          first refusal of a job; then nothing is enqueued.
-- Locks:   see writ_data.enqueue_jobs.
create or replace function writ.fn_consumer_dispatch(
  p_event_id uuid,
  p_actor text default 'dispatch',
  p_tenant_id text default null
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ordinal integer := ('x' || right(p_event_id::text, 6))::bit(24)::integer;
  v_type text;
  v_subject text;
  follower record;                  -- a consumer, and its job
  v_answer jsonb;
  v_enqueued integer := 0;
  v_jobs jsonb := '[]'::jsonb;
begin
  if coalesce(btrim(p_actor), '') = '' then
    return writ_data.refusal('actor_required');
  elsif length(p_actor) > 200 then
    return writ_data.refusal('invalid_actor');
  end if;

  -- Find the fact in its batch.

  select
    r.type,
    case
      when r.type like 'dot.job.%' then b.subjects[s.place]::text
      else b.details #>> array['executors', (s.place - 1)::text]
    end
  into v_type, v_subject
  from writ_data.event_batch b
  cross join lateral (
    select u.type, u.first, n.facts, sum(n.facts) over (order by u.i) - n.facts as before
    from unnest(b.types, b.first, b.last) with ordinality u(type, first, last, i)
    cross join lateral (select greatest(0, u.last - u.first + 1) as facts) n
  ) r
  cross join lateral (select (r.first + v_ordinal - r.before - 1)::integer as place) s
  left join writ_data.job j on j.job_id = b.subjects[s.place]
  where b.batch_id = writ_data.batch_of(p_event_id)
    and v_ordinal between r.before + 1 and r.before + r.facts
    and writ_data.visible(coalesce(j.tenant_id, 'default'))
    and coalesce(p_tenant_id, j.tenant_id, 'default') = coalesce(j.tenant_id, 'default');
  if not found then
    return writ_data.refusal('event_not_found', p_event_id::text);
  end if;

  -- Enqueue, consumer by consumer in the order of their names, as fn_consumer_dispatch_many does.

  for follower in
    select d.consumer, d.jobs -> 0 as job
    from (
      select array_agg(r.consumer) as names
      from writ_data.consumer_registry r
      where r.event_type = v_type
    ) r
    cross join lateral writ_data.consumer_jobs(
      r.names,
      array(select '00000000-0000-0000-0000-000000000000'::uuid from unnest(r.names)),
      array[p_event_id], array[v_type], array[v_subject]
    ) d
    order by d.consumer
  loop
    v_answer := writ_data.enqueue_jobs(
      jsonb_build_array(follower.job), p_actor, 'default', true
    );
    if not v_answer ? 'reason' and v_answer -> 'refused' <> '[]' then
      v_answer := writ_data.refusal(
        v_answer #>> '{refused,0,reason}',
        concat_ws(': ', follower.consumer, v_answer #>> '{refused,0,detail}')
      );
    end if;
    if v_answer ? 'reason' then
      raise exception using errcode = 'WR003', message = 'take back';
    end if;
    v_enqueued := v_enqueued + (v_answer ->> 'enqueued')::integer;
    v_jobs := v_jobs || jsonb_build_object(
      'consumer', follower.consumer,
      'job_id', coalesce(v_answer #> '{duplicates,0,job_id}', follower.job -> 'id'),
      'duplicate', v_answer -> 'duplicates' <> '[]'
    );
  end loop;

  return jsonb_build_object('event_id', p_event_id, 'enqueued', v_enqueued, 'jobs', v_jobs);
exception when sqlstate 'WR003' then
  return v_answer;
end $$;
