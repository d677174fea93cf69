-- What was decided about governors that fn_governors_take has locked in this transaction: where they are now, the events that they handled, the receipts, and what follows from them, all or none. p_turn is {governors: [{id, rev, events, receipts, done, mail_at, last, state, hash, due, data, waiting}],
-- wakes: [{g, at}], events: [{g, n, at, kind, mail, was, state, added}], settled: [{g, n, r}], entries: [text], effects: [...]}; data and waiting only where they changed. wakes: when somebody has to look at one again. Raises if one of them is not at the revision that was decided on.
-- Callers: writ_engine
create or replace function writ.fn_governors_apply(p_turn jsonb, p_actor text) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  v_now timestamptz := writ.now(); v_n integer; v_moved uuid[]; v_details jsonb; e jsonb;
begin
  update writ_data.governor g set events = u.events, receipts = u.receipts, mail_done = u.done, mail_at = coalesce(to_timestamp(u.mail_at / 1000.0), g.mail_at), last_at = to_timestamp(u.last / 1000.0), state = u.state, inputs_hash = decode(u.hash, 'hex'),
    due_at = to_timestamp(u.due / 1000.0), data = coalesce(u.data, g.data), waiting = coalesce(u.waiting, g.waiting), crashes = '{}', crash = null
  from jsonb_to_recordset(p_turn -> 'governors') u(id uuid, rev bigint, events bigint, receipts bigint, done bigint, mail_at bigint, last bigint, state text, hash text, due bigint, data jsonb, waiting jsonb)
  where g.governor_id = u.id and g.events = u.rev;
  get diagnostics v_n = row_count;
  if v_n <> jsonb_array_length(p_turn -> 'governors') then
    raise exception using errcode = 'WR001', message = 'governor_moved', detail = format('%s of %s governors are not where they were.', jsonb_array_length(p_turn -> 'governors') - v_n, jsonb_array_length(p_turn -> 'governors'));
  end if;
  insert into writ_data.governor_event (governor_id, event_seq, at, kind, mail_seq, from_state, state, added)
  select x.g, x.n, to_timestamp(x.at / 1000.0), x.kind, x.mail, x.was, x.state, x.added from jsonb_to_recordset(p_turn -> 'events') x(g uuid, n bigint, at bigint, kind text, mail bigint, was text, state text, added text);
  insert into writ_data.governor_settled (governor_id, arrival_seq, receipt_id, at) select x.g, x.n, x.r, v_now from jsonb_to_recordset(p_turn -> 'settled') x(g uuid, n bigint, r uuid);
  if p_turn -> 'entries' <> '[]' then
    perform writ_data.append_receipts(array(select jsonb_array_elements_text(p_turn -> 'entries')), v_now);
  end if;
  insert into writ_data.governor_due (due_at, governor_id) select to_timestamp(u.at / 1000.0), u.g from jsonb_to_recordset(p_turn -> 'wakes') u(g uuid, at bigint);
  select array_agg(distinct x.g) into v_moved from jsonb_to_recordset(p_turn -> 'events') x(g uuid, was text, state text) where x.was is distinct from x.state;
  if v_moved is not null then
    select jsonb_build_object('each', jsonb_object_agg(x.g, jsonb_build_object('states', x.states))) into v_details
    from (select y.g, jsonb_agg(y.state order by y.n) as states from jsonb_to_recordset(p_turn -> 'events') y(g uuid, n bigint, was text, state text) where y.was is distinct from y.state group by y.g) x;
    perform writ_data.record('fn_governors_apply', p_actor, v_now, v_moved, array['governor.state_changed'], array[1], array[cardinality(v_moved)], v_details);
  end if;
  -- Rows of quotas first, by tenant: two turns with governors of the same tenants must not wait for each other in a circle.
  for e in select x.e from jsonb_array_elements(coalesce(p_turn -> 'effects', '[]')) with ordinality x(e, n) order by x.e ->> 'type' <> 'quota', case x.e ->> 'type' when 'quota' then x.e ->> 't' end, x.n loop
    perform writ_data.governor_effect(e, p_actor, v_now);
  end loop;
  return '{}';
end $$;
