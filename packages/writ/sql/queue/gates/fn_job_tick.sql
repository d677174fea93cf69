-- Turns the clockwork. Every worker calls it, and one at a time does the work. Makes due jobs
-- claimable, cancels jobs past their deadline, ends timers, takes expired leases back and reports
-- silent workers. Once a minute it maintains lanes, partitions and retention.
-- Callers: processes
-- Answers: {promoted, late, timers, reaped, alone, next_due_ms}; next_due_ms is when the next
--          waiting job is due, null when none is, so that a worker can call again just then. With
--          {more: true} it may call again at once: a call does a bounded part of what is due. While
--          another session does this: {busy: true, next_due_ms}.
-- Refuses: actor_required, invalid_actor.
-- Locks:   the turn `clockwork`; rows that are due, passing over what another session holds.
--
-- One bad row stops nothing else: each part tries all of its rows at once and, if that raises, one
-- by one. A row that still raises is set aside for an hour, with an alert (writ_data.set_aside).
create or replace function writ.fn_job_tick(p_actor text) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
  v_now timestamptz := writ.now();
  v_late integer;
  v_promoted integer;
  v_timers integer;
  v_reaped jsonb;
begin
  if coalesce(btrim(p_actor), '') = '' then
    return writ_data.refusal('actor_required');
  elsif length(p_actor) > 200 then
    return writ_data.refusal('invalid_actor');
  elsif not writ_data.take_turn('clockwork') then
    return jsonb_build_object('busy', true, 'next_due_ms', writ_data.next_due_ms(v_now));
  end if;

  begin
    perform writ_data.open_days();  -- before anything is recorded
  exception when others then
    perform writ_data.set_aside('clockwork/partitions', null, sqlstate, sqlerrm, p_actor, v_now);
  end;
  perform writ_data.watch_ready();  -- first: it may wait some milliseconds; nothing is locked yet
  v_late := writ_data.cancel_late(p_actor, v_now);
  v_promoted := writ_data.promote_due(p_actor, v_now);
  begin
    v_timers := writ_data.on_tick(p_actor, v_now);
  exception when others then
    v_timers := 0;
    perform writ_data.set_aside('clockwork/timers', null, sqlstate, sqlerrm, p_actor, v_now);
  end;
  v_reaped := writ_data.reap_leases(p_actor);
  perform writ_data.report_silent(p_actor, v_now);
  perform writ_data.upkeep(v_now, p_actor);

  return jsonb_build_object(
    'promoted', v_promoted,
    'late', v_late,
    'timers', v_timers,
    'reaped', v_reaped,
    'alone', (
      select coalesce(jsonb_agg(distinct l.job_kind), '[]')
      from writ_data.lane l
      where l.alone and exists (select from writ_data.job_ready r where r.lane_id = l.lane_id)
    ),
    'next_due_ms', writ_data.next_due_ms(v_now)
  ) || case
    when v_late >= 1000 or v_reaped ? 'more' then '{"more": true}'::jsonb
    else '{}'
  end;
end $$;
