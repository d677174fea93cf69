-- Follows the log for every consumer: enqueues the jobs of new facts and moves the consumers' positions, in one transaction, so that a crash leaves both or
-- neither. Every worker calls it, one at a time does it; without consumers, or without anything new, it is a look at an index. At most p_limit facts per
-- call and position; `more` says that a bound was reached, and the next call goes on. Answers {facts, jobs, more, refused: [{consumer, reason, detail}]}.
-- It reads facts of transactions that are older than every open one, in the order (xid, event id): those that commit late are late, and never passed over.
-- A consumer whose jobs the queue refuses stays where it is, alone, and is tried again.
-- Callers: writ_engine
create or replace function writ.fn_consumer_dispatch_many(p_limit integer default 1000) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := writ.now();
  v_limit integer := least(greatest(coalesce(p_limit, 1000), 1), 10000);
  v_horizon xid8; v_next xid8; v_restored boolean;
  v_facts integer := 0; v_enqueued integer := 0; v_more boolean := false; v_refused jsonb := '[]'; v_moved jsonb := '[]'; v_answer jsonb;
  g record; l record; c record;
begin
  if not exists (select from writ_data.consumer_registry) then
    return jsonb_build_object('facts', 0, 'jobs', 0, 'more', false, 'refused', '[]'::jsonb);
  elsif writ_data.caller_tenant() is not null then
    return writ_data.refusal('tenant_forbidden', 'Consumers follow the facts of all tenants.');
  elsif not coalesce((writ_data.setting('queue.job_substrate.enabled'))::boolean, false) then
    return writ_data.refusal('job_substrate_disabled');
  elsif not writ_data.take_turn('consumers') then
    return jsonb_build_object('busy', true, 'facts', 0, 'jobs', 0, 'more', false, 'refused', '[]'::jsonb);
  end if;
  select pg_snapshot_xmin(s), pg_snapshot_xmax(s) into v_horizon, v_next from pg_current_snapshot() s;

  -- Consumers that are equally far, which is nearly always all of them, read the log together.
  for g in
    select p.xid, p.event_id, min(p.since::text)::uuid as since, array_agg(p.consumer) as names, array_agg(p.since) as sinces, array_agg(distinct r.event_type) as types
    from writ_data.consumer_position p join writ_data.consumer_registry r on r.consumer = p.consumer
    group by p.xid, p.event_id
  loop
    -- A position ahead of the server's own transactions comes from another server, by dump and restore. What was restored is committed: read it to its end.
    v_restored := g.xid > v_next;
    select * into l from writ_data.log_after(g.xid, g.event_id, case when v_restored then '18446744073709551615' else v_horizon end, g.since, g.types, v_limit);
    v_facts := v_facts + coalesce(cardinality(l.event_ids), 0);
    if v_restored and coalesce(l.event_id, g.event_id) = g.event_id then
      -- Then begin anew with the transactions of this server, and leave alone what came with the dump.
      update writ_data.consumer_position set xid = '0', event_id = '00000000-0000-0000-0000-000000000000', moved_at = v_now,
        since = greatest(since::text, (select max(writ_data.fact_id(b.batch_id, 16777215)::text) from writ_data.event_batch b where b.xid > v_next))::uuid
      where consumer = any (g.names);
      v_more := true;
    elsif l.event_id is not null then
      select v_moved || jsonb_agg(jsonb_strip_nulls(jsonb_build_object('consumer', n.name, 'xid', l.xid, 'event_id', l.event_id, 'more', l.more or v_restored, 'jobs', d.jobs))) into v_moved
      from unnest(g.names) n(name)
      left join writ_data.consumer_jobs(g.names, g.sinces, l.event_ids, l.event_types, l.subjects) d on d.consumer = n.name;
    end if;
  end loop;

  -- By name, as fn_consumer_dispatch does it: two that enqueue the same jobs wait for each other in one order.
  for c in
    select m.consumer, m.jobs from jsonb_to_recordset(v_moved) m(consumer text, jobs jsonb) where m.jobs is not null order by m.consumer
  loop
    v_answer := writ_data.enqueue_jobs(c.jobs, 'consumer:' || c.consumer, 'default', true);
    if v_answer ? 'reason' or v_answer -> 'refused' <> '[]' then
      v_answer := case when v_answer ? 'reason' then v_answer else v_answer #> '{refused,0}' end;
      v_refused := v_refused || jsonb_build_object('consumer', c.consumer, 'reason', v_answer -> 'reason', 'detail', v_answer -> 'detail');
    else
      v_enqueued := v_enqueued + (v_answer ->> 'enqueued')::integer;
    end if;
  end loop;

  -- More, for whoever has moved: one that is refused would be asked again at once, for nothing.
  select v_more or coalesce(bool_or(m.more), false) into v_more from jsonb_to_recordset(v_moved) m(consumer text, more boolean)
  where not v_refused @> jsonb_build_array(jsonb_build_object('consumer', m.consumer));
  update writ_data.consumer_position p
  set xid = case when r.reason is null then m.xid else p.xid end, event_id = case when r.reason is null then m.event_id else p.event_id end,
    moved_at = case when r.reason is null then v_now else p.moved_at end, refused = r.reason
  from jsonb_to_recordset(v_moved) m(consumer text, xid xid8, event_id uuid)
  left join jsonb_to_recordset(v_refused) r(consumer text, reason text) on r.consumer = m.consumer
  where p.consumer = m.consumer and case when r.reason is null then (p.xid, p.event_id, p.refused) is distinct from (m.xid, m.event_id, null)
    else p.refused is distinct from r.reason end;
  return jsonb_build_object('facts', v_facts, 'jobs', v_enqueued, 'more', v_more, 'refused', v_refused);
end $$;
