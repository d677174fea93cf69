-- Records that a driver failed to decide about a governor, and when to try again.
-- Callers: writ_engine
-- Answers: {crashes, limit}: crashes within the last minute, and the number that is too many. A
--          driver sets an event aside only if its own attempt also fails, because any driver can
--          report crashes that did not happen.
-- Refuses: nothing. A governor that has moved since counts no crash.
-- Locks:   the governor.
--
-- The gate counts at most one crash per pause, and only while the governor has something to decide.
-- So the count grows no faster than drivers can really crash.
create or replace function writ.fn_governor_crashed(
  p_governor_id uuid,
  p_rev bigint,
  p_error text,
  p_actor text
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
  v_now timestamptz := date_trunc('milliseconds', writ.now());
  v_tenant text := writ_data.caller_tenant();
  v_governor writ_data.governor;
  v_crashes timestamptz[];
  v_pause interval;               -- from a crash to the next attempt
  v_next timestamptz;             -- when a driver looks again
begin
  select * into v_governor
  from writ_data.governor g
  where g.governor_id = p_governor_id and g.events = p_rev
    and coalesce(v_tenant, g.tenant_id) = g.tenant_id
  for no key update;

  if found then
    v_crashes := array(
      select c
      from unnest(v_governor.crashes) c
      where c > v_now - interval '1 minute' and c <= v_now
      order by c desc
      limit 999);
    v_pause := least(10 * 2 ^ least(cardinality(v_crashes), 8), 500) * interval '1 millisecond';

    if coalesce(v_crashes[1] <= v_now - v_pause, true) and (
      v_governor.due_at <= v_now
      or v_governor.waiting -> 'queue' <> '[]'
      or exists (select from writ_data.governor_inbox b
        where b.governor_id = p_governor_id and b.mails > v_governor.mail_done)
    ) then
      v_next := v_now + least(v_pause * 2, interval '500 milliseconds');
      v_crashes := v_now || v_crashes;
      update writ_data.governor g
      set crashes = v_crashes, crash = left(p_error, 1000)
      where g.governor_id = p_governor_id;
    else
      -- A report that does not count postpones nothing. Otherwise repeated reports could keep
      -- drivers from the governor for ever.
      v_next := coalesce(v_crashes[1], v_now) + v_pause;
    end if;

    delete from writ_data.governor_due d
    where d.due_at <= v_now and d.governor_id = p_governor_id;
    insert into writ_data.governor_due (due_at, governor_id)
    values (v_next, p_governor_id);
  end if;

  return jsonb_build_object(
    'crashes', coalesce(cardinality(v_crashes), 0),
    'limit', (writ_data.setting('governor.crashes'))::integer);
end $$;
