-- Reads the events after a position, for a reader that keeps its own position.
-- Callers: processes, readers
-- p_position: as this gate has answered it, or `beginning`. Null: only asks where the record ends.
-- p_types: an entry that ends with * is the beginning of types. p_limit: calls of gates at most.
-- p_events: an answer ends with the call that reaches this number of events. p_idle: nobody else
--          follows, so the next call that records something may wake this reader.
-- Answers: {"events": [[id, type, subject, tenant, milliseconds since 1970, actor, number in its
--          run, step, logical attempt, engine's attempt, data], ...], "position", "more"}. The
--          position is after these events. They are of transactions that ended before every open
--          one began, so nothing is recorded in front of it later.
-- Refuses: TENANT_ACCESS_DENIED, invalid_argument (one to a hundred types; a text that is no
--          position).
-- Locks:   none.
create or replace function writ.fn_outbox_read(
  p_position text,
  p_types text[],
  p_tenant_id text default null,
  p_limit integer default 500,
  p_idle boolean default false,
  p_events integer default 2000
) returns json
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant text := coalesce(p_tenant_id, writ_data.caller_tenant());
  v_position writ_data.record_position;
  v_from record;        -- bounds of what it reads
  w record;
begin
  if v_tenant is not null and not writ_data.visible(v_tenant) then
    return writ_data.refusal('TENANT_ACCESS_DENIED', v_tenant);
  elsif coalesce(cardinality(p_types), 0) not between 1 and 100
    or exists (select from unnest(p_types) t where t is null or length(t) > 200)
  then
    return writ_data.refusal('invalid_argument', 'p_types has one to a hundred types.');
  end if;
  begin
    v_position := writ_data.position_of(p_position);
  exception when data_exception then
    return writ_data.refusal('invalid_argument', left(sqlerrm, 200));
  end;

  select * into v_from from writ_data.record_bounds(v_position);
  if p_position is null then
    return json_build_object(
      'events', '[]'::json, 'position', writ_data.position_text(v_from.start), 'more', false
    );
  end if;

  w := writ_data.outbox_window(
    v_from.start, v_from.horizon, v_from.until, p_types, v_tenant,
    least(greatest(coalesce(p_limit, 500), 1), 10000),
    least(greatest(coalesce(p_events, 2000), 1), 2000)
  );
  -- An auditor changes nothing, not even who wants to be woken.
  if p_idle and w.upto is null and (
    writ_data.caller_has('writ_producer') or writ_data.caller_has('writ_worker')
    or writ_data.caller_has('writ_engine') or writ_data.caller_has('writ_server')
  ) then
    perform writ_data.relay_idle(writ.now());
  end if;
  return concat(
    '{"events":[', w.events,
    '],"position":"',
    writ_data.position_text(case when w.upto is null then v_from.start else w.upto end),
    '","more":', (coalesce(w.more, false) or v_from.closed)::text, '}'
  )::json;
end $$;
