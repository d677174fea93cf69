-- Returns what a destination is to be sent again now, as JSON text: [attempts, event], with events
-- as outbox_window returns them. An event whose day the record has dropped becomes a dead letter.
create or replace function writ_data.outbox_retries(
  p_destination text,
  p_limit integer,
  p_at timestamptz
) returns text
language plpgsql
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_answer text;
  v_gone uuid[];
begin
  with due as materialized (
    select
      u.event_id, u.attempts, u.place, u.run_seq,
      writ_data.batch_of(u.event_id) as batch_id,
      ('x' || right(u.event_id::text, 6))::bit(24)::integer as ordinal
    from writ_data.undelivered u
    where u.destination = p_destination
      and u.due_at <= p_at
      and u.dead_at is null
      -- Whatever became due when: none goes before an earlier one of its stream.
      and not exists (
        select from writ_data.undelivered e
        where e.destination = p_destination
          and e.stream = u.stream
          and e.place < u.place
          and e.dead_at is null
          and (e.due_at is null or e.due_at > u.due_at)
      )
    order by u.due_at, u.place
    limit p_limit
  ), fact as materialized (
    select d.*, f.type, f.subject, b.at, b.actor, b.details
    from due d
    left join lateral (
      select * from writ_data.event_batch x where x.batch_id = d.batch_id offset 0
    ) b on true
    left join lateral (
      select y.type, b.subjects[y.n] as subject
      from (
        select b.types[t.i] as type, s.n, row_number() over (order by t.i, s.n) as ordinal
        from generate_subscripts(b.types, 1) t(i)
        cross join lateral generate_series(b.first[t.i], b.last[t.i]) s(n)
      ) y
      where y.ordinal = d.ordinal
    ) f on true
  )
  select
    string_agg(
      concat(
        '[', f.attempts, ',',
        writ_data.outbox_event(
          f.event_id, f.type, f.subject,
          coalesce(
            x.tenant_id, j.tenant_id, a.tenant_id, writ_data.on_fact_tenant(f.type, f.subject)
          ),
          f.at, f.actor, f.run_seq, e.step_id, e.logical_attempt, e.engine_attempt, e.data,
          f.details, coalesce(x.traceparent, j.traceparent)
        ),
        ']'
      ),
      ',' order by f.place
    ) filter (where f.subject is not null and (f.run_seq is null or e.step_id is not null)),
    array_agg(f.event_id)
      filter (where f.subject is null or f.run_seq is not null and e.step_id is null)
  into v_answer, v_gone
  from fact f
  left join lateral (
    select y.tenant_id, y.traceparent
    from writ_data.run y
    where f.run_seq is not null and y.run_id = f.subject
    offset 0
  ) x on true
  left join lateral (
    select y.step_id, y.logical_attempt, y.engine_attempt, y.data
    from writ_data.run_event y
    where f.run_seq is not null and y.run_id = f.subject and y.run_seq = f.run_seq
    offset 0
  ) e on true
  left join lateral (
    select y.tenant_id, y.traceparent
    from writ_data.job y
    where f.type like 'dot.job.%' and y.job_id = f.subject
    offset 0
  ) j on true
  left join lateral (
    select y.tenant_id
    from writ_data.alert y
    where f.type like 'system.alert%' and y.alert_id = f.subject
    offset 0
  ) a on true;
  if v_gone is not null then
    update writ_data.undelivered
    set dead_at = p_at, reason = 'The record no longer has it.'
    where destination = p_destination and event_id = any (v_gone);
    perform writ_data.raise_alert(
      'DELIVERY_DEAD', 'P2', d.tenant_id, 'destination/' || p_destination,
      jsonb_build_object('event', v_gone[1], 'events', cardinality(v_gone)),
      'outbox', p_at
    )
    from writ_data.destination d
    where d.name = p_destination;

    perform writ_data.streams_go_on(
      p_destination,
      array(
        select distinct u.stream
        from writ_data.undelivered u
        where u.destination = p_destination and u.event_id = any (v_gone)
      ),
      p_at
    );
  end if;
  return v_answer;
end $$;
