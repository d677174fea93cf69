-- The job of one tick, as enqueue_jobs takes it. Its key is the second fence after the tick's own
-- row: a schedule that was removed and defined again does not fire the same tick twice.
create or replace function writ_data.schedule_job(
  p_schedule writ_data.schedule,
  p_tick timestamptz
) returns jsonb
language plpgsql volatile
as $$
declare
  v_tick text := to_char(p_tick at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"');
  v_labels jsonb := coalesce(nullif(p_schedule.job -> 'safe_payload', 'null'), '{}');
begin
  -- Labels that are no object are left for the queue to refuse.
  if jsonb_typeof(v_labels) = 'object' then
    v_labels := v_labels
      || jsonb_build_object('schedule', p_schedule.schedule, 'tick', v_tick);
  end if;
  return p_schedule.job || jsonb_build_object(
    'id', writ_data.uuidv7(),
    'kind', p_schedule.job_kind,
    'tenant', p_schedule.tenant_id,
    'key', format('schedule:%s:%s', p_schedule.schedule, v_tick),
    'safe_payload', v_labels
  );
end $$;
