-- Follows the log for every consumer: enqueues the jobs of new facts and moves the consumers'
-- positions, in one transaction, so that a crash leaves both or neither.
-- Callers: writ_engine
-- Answers: {facts, jobs, more, refused: [{consumer, reason, detail}]}; `more`: a bound was reached,
--          and the next call goes on. While another session does this: {busy: true, …}.
-- Refuses: tenant_forbidden, job_substrate_disabled.
-- Locks:   the turn `consumers`. Every worker calls this gate, and one at a time does the work.
--          Without consumers or new facts, a call costs one index lookup.
--
-- It reads within writ_data.record_bounds, so a fact that commits late is delayed, and never
-- skipped. If the queue refuses every job of a consumer, only that consumer stays at its position
-- and is tried again. A consumer skips a single bad fact (writ_data.enqueue_followers).
create or replace function writ.fn_consumer_dispatch_many(
  p_limit integer default 1000      -- facts of one position; 1 to 10,000
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  v_limit integer := least(greatest(coalesce(p_limit, 1000), 1), 10000);
  at_place record;                  -- a position, and the consumers that are there
  bounds record;                    -- of what they read
  log record;                       -- facts after it
  v_facts integer := 0;
  v_more boolean := false;
  v_moved jsonb := '[]'::jsonb;            -- [{consumer, position, more, jobs}]
  moving record;                    -- one of them
  followed record;                  -- what became of its jobs
  v_enqueued integer := 0;
  v_refused jsonb := '[]'::jsonb;
begin
  if not exists (select from writ_data.consumer_registry) then
    return jsonb_build_object('facts', 0, 'jobs', 0, 'more', false, 'refused', '[]'::jsonb);
  elsif writ_data.caller_tenant() is not null then
    return writ_data.refusal('tenant_forbidden', 'Consumers follow the facts of all tenants.');
  elsif not coalesce((writ_data.setting('queue.job_substrate.enabled'))::boolean, false) then
    return writ_data.refusal('job_substrate_disabled');
  elsif not writ_data.take_turn('consumers') then
    return jsonb_build_object(
      'busy', true, 'facts', 0, 'jobs', 0, 'more', false, 'refused', '[]'::jsonb
    );
  end if;

  -- Read. Consumers that are equally far, which is nearly always all of them, read together.

  for at_place in
    select
      p.position, min(p.since::text)::uuid as since, array_agg(p.consumer) as names,
      array_agg(p.since) as sinces, array_agg(distinct r.event_type) as types
    from writ_data.consumer_position p
    join writ_data.consumer_registry r on r.consumer = p.consumer
    group by p.position
  loop
    select * into bounds from writ_data.record_bounds(at_place.position);
    select * into log
    from writ_data.log_after(
      bounds.start, bounds.horizon, bounds.until, at_place.since, at_place.types, v_limit
    );
    v_facts := v_facts + coalesce(cardinality(log.event_ids), 0);
    if log.upto is not null then
      select v_moved || jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
        'consumer', n.name, 'position', log.upto,
        'more', log.more or bounds.closed, 'jobs', d.jobs
      )))
      into v_moved
      from unnest(at_place.names) n(name)
      left join writ_data.consumer_jobs(
        at_place.names, at_place.sinces, log.event_ids, log.event_types, log.subjects
      ) d on d.consumer = n.name;
    end if;
  end loop;

  -- Enqueue, by name as fn_consumer_dispatch does: two calls that enqueue the same jobs wait for
  -- each other in one order.

  for moving in
    select m.consumer, m.jobs
    from jsonb_to_recordset(v_moved) m(consumer text, jobs jsonb)
    where m.jobs is not null
    order by m.consumer
  loop
    followed := writ_data.enqueue_followers(moving.consumer, moving.jobs, v_now);
    if followed.refused is not null then
      v_refused := v_refused || jsonb_build_object(
        'consumer', moving.consumer,
        'reason', followed.refused -> 'reason',
        'detail', followed.refused -> 'detail'
      );
    else
      v_enqueued := v_enqueued + followed.enqueued;
    end if;
  end loop;

  -- Move the positions. `more` counts only consumers that moved. Otherwise a refused consumer would
  -- cause another call at once, in vain.

  select v_more or coalesce(bool_or(m.more), false)
  into v_more
  from jsonb_to_recordset(v_moved) m(consumer text, more boolean)
  where not v_refused @> jsonb_build_array(jsonb_build_object('consumer', m.consumer));
  update writ_data.consumer_position p
  set
    position = case when r.reason is null then m.position else p.position end,
    moved_at = case when r.reason is null then v_now else p.moved_at end,
    refused = r.reason
  from jsonb_to_recordset(v_moved) m(consumer text, position writ_data.record_position)
  left join jsonb_to_recordset(v_refused) r(consumer text, reason text) on r.consumer = m.consumer
  where p.consumer = m.consumer
    and case
      when r.reason is null
        then p.position is distinct from m.position or p.refused is not null
      else p.refused is distinct from r.reason
    end;
  return jsonb_build_object(
    'facts', v_facts, 'jobs', v_enqueued, 'more', v_more, 'refused', v_refused
  );
end $$;
