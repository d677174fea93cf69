-- Pauses a run: steps that run go on, and no new step begins. The caller has locked the run.
create or replace function writ_data.pause_run(
  p_run uuid,
  p_reason text,
  p_signal uuid,
  p_actor text,
  p_at timestamptz
) returns void
language plpgsql
as $$
declare
  v_pause integer;
begin
  update writ_data.run
  set status = 'PAUSED', pauses = pauses + 1, moved_at = p_at
  where run_id = p_run
  returning pauses
  into v_pause;

  perform writ_data.append_events(
    array[p_run], array['RunPaused'], array['RUN'], array[v_pause::text], array[null::integer],
    array[jsonb_build_object(
      'reason', left(p_reason, 1000),
      'draining', (
        select count(*) from writ_data.open_steps(p_run) o where o.type in ('job', 'undo')
      )
    )],
    null, p_signal, 'fn_run_move', p_actor, p_at
  );
end $$;
