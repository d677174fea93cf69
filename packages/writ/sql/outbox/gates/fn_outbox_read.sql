-- Reads the events after a position, for a reader that keeps its own position.
-- Callers: processes, readers
-- p_types: an entry that ends with * is the beginning of types. p_limit: calls of gates at most; an
--          answer has about two thousand events at most. p_idle: nobody else follows, so the next
--          call that records something may wake this reader.
-- Answers: {"events": [[id, type, subject, tenant, milliseconds since 1970, actor, number in its
--          run, step, logical attempt, engine's attempt, data], ...], "xid", "batch_id", "more"}.
--          Without a position: where the record ends now.
-- Refuses: TENANT_ACCESS_DENIED, invalid_argument (one to a hundred types).
-- Locks:   none.
create or replace function writ.fn_outbox_read(
  p_xid xid8,
  p_batch_id uuid,
  p_types text[],
  p_tenant_id text default null,
  p_limit integer default 500,
  p_idle boolean default false
) returns json
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  w record;
  v_tenant text := coalesce(p_tenant_id, writ_data.caller_tenant());
begin
  if v_tenant is not null and not writ_data.visible(v_tenant) then
    return writ_data.refusal('TENANT_ACCESS_DENIED', v_tenant);
  elsif coalesce(cardinality(p_types), 0) not between 1 and 100
    or exists (select from unnest(p_types) t where t is null or length(t) > 200)
  then
    return writ_data.refusal('invalid_argument', 'p_types has one to a hundred types.');
  elsif p_xid is null then
    return json_build_object(
      'events', '[]'::json,
      'xid', pg_snapshot_xmin(pg_current_snapshot()),
      'batch_id', '00000000-0000-0000-0000-000000000000',
      'more', false
    );
  end if;

  w := writ_data.outbox_window(
    p_xid, p_batch_id, p_types, v_tenant, least(greatest(coalesce(p_limit, 500), 1), 10000), 2000
  );
  -- An auditor changes nothing, not even who wants to be woken.
  if p_idle and w.xid is null and (
    writ_data.caller_has('writ_producer') or writ_data.caller_has('writ_worker')
    or writ_data.caller_has('writ_engine') or writ_data.caller_has('writ_server')
  ) then
    perform writ_data.relay_idle(writ.now());
  end if;
  return concat(
    '{"events":[', w.events,
    '],"xid":"', coalesce(w.xid, p_xid),
    '","batch_id":"', coalesce(w.batch_id, p_batch_id),
    '","more":', coalesce(w.more, false)::text, '}'
  )::json;
end $$;
