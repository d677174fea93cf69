-- Deciding about a governor has failed: written down, and tried again a little later. Answers {crashes}: how often within the last minute; whoever asks sets the event aside when that is too often.
-- Callers: writ_engine
create or replace function writ.fn_governor_crashed(p_governor_id uuid, p_rev bigint, p_error text, p_actor text) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
declare
  v_now timestamptz := date_trunc('milliseconds', writ.now()); v_crashes timestamptz[];
begin
  update writ_data.governor g set crashes = array(select c from unnest(g.crashes) c where c > v_now - interval '1 minute' and c <= v_now order by c desc limit 999) || v_now, crash = left(p_error, 1000) where g.governor_id = p_governor_id and g.events = p_rev returning g.crashes into v_crashes;
  if v_crashes is not null then
    delete from writ_data.governor_due d where d.due_at <= v_now and d.governor_id = p_governor_id;
    insert into writ_data.governor_due (due_at, governor_id) values (v_now + least(10 * 2 ^ least(cardinality(v_crashes), 8), 500) * interval '1 millisecond', p_governor_id);
  end if;
  return jsonb_build_object('crashes', coalesce(cardinality(v_crashes), 0), 'limit', (writ_data.setting('governor.crashes'))::integer);
end $$;
