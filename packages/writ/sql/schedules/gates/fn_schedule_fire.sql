-- Fires ticks of schedules that are due. In one transaction each tick gets its row and its job, and
-- the schedule moves on.
-- Callers: writ_engine
-- Answers: {fired, moved, refused: [{tenant, schedule, reason, detail}]}. The gate skips a
--          schedule that has moved, changed or been paused since, or that another call holds. A
--          schedule whose job the queue refuses stays due.
-- Refuses: actor_required, invalid_actor, invalid_ticks, batch_too_large, and what refuses every
--          job, such as job_substrate_disabled.
-- Raises:  42501 when writ.tenant names another tenant than the login is bound to.
-- Locks:   see writ_data.fire_schedules.
--
-- A login of one tenant neither fires nor sets aside schedules of another: the gate skips them.
-- One bad schedule stops no other. The gate refuses a malformed item alone, and sets a schedule
-- that raises aside for an hour, with an alert (writ_data.set_aside).
create or replace function writ.fn_schedule_fire(
  p_due jsonb,                      -- [{tenant, schedule, version, next_tick: as fn_schedule_due
                                    -- answered them, ticks: to fire, move_to: tick to wait for}]
  p_actor text
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  v_tenant text := writ_data.caller_tenant(); -- outside the handlers below: the call raises
  v_good jsonb;                     -- items that are well formed, of tenants of the caller
  v_refused jsonb;
  result record;                    -- of writ_data.fire_schedules
  v_item jsonb;
  v_fired integer := 0;
  v_moved integer := 0;
begin
  -- Validate.

  if coalesce(btrim(p_actor), '') = '' then
    return writ_data.refusal('actor_required');
  elsif length(p_actor) > 200 then
    return writ_data.refusal('invalid_actor');
  elsif jsonb_typeof(p_due) is distinct from 'array' then
    return writ_data.refusal('invalid_ticks', 'What is due is an array.');
  elsif jsonb_array_length(p_due) > 1000 then
    return writ_data.refusal('batch_too_large', 'A call fires at most 1,000 schedules.');
  end if;
  select
    coalesce(jsonb_agg(i.item) filter (
      where w.wrong is null and coalesce(v_tenant, i.item ->> 'tenant') = i.item ->> 'tenant'
    ), '[]'),
    coalesce(jsonb_agg(jsonb_build_object(
      'tenant', left(i.item ->> 'tenant', 200), 'schedule', left(i.item ->> 'schedule', 200),
      'reason', 'invalid_ticks', 'detail', w.wrong
    )) filter (where w.wrong is not null), '[]')
  into v_good, v_refused
  from jsonb_array_elements(p_due) i(item)
  cross join lateral (
    select writ_data.wrong_with_firing(i.item, v_now) as wrong offset 0
  ) w;

  -- Fire all of them; if that raises, one by one.

  begin
    result := writ_data.fire_schedules(v_good, p_actor, v_now);
    if result.refused #> '{0,reason}' is not null and not result.refused -> 0 ? 'schedule' then
      return writ_data.refusal(
        result.refused #>> '{0,reason}', result.refused #>> '{0,detail}'
      );
    end if;
    v_fired := result.fired;
    v_moved := result.moved;
    v_refused := v_refused || result.refused;
  exception when others then
    for v_item in select * from jsonb_array_elements(v_good) loop
      begin
        result := writ_data.fire_schedules(jsonb_build_array(v_item), p_actor, v_now);
        v_fired := v_fired + result.fired;
        v_moved := v_moved + result.moved;
        v_refused := v_refused || result.refused;
      exception when others then
        if writ_data.set_aside(
          format('schedule/%s/%s', v_item ->> 'tenant', v_item ->> 'schedule'),
          v_item ->> 'tenant', sqlstate, sqlerrm, p_actor, v_now
        ) then
          update writ_data.schedule
          set aside_until = v_now + interval '1 hour'
          where tenant_id = v_item ->> 'tenant' and schedule = v_item ->> 'schedule'
            and coalesce(v_tenant, tenant_id) = tenant_id;
          v_refused := v_refused || jsonb_build_object(
            'tenant', v_item ->> 'tenant', 'schedule', v_item ->> 'schedule',
            'reason', 'schedule_set_aside', 'detail', left(sqlerrm, 500)
          );
        end if;
      end;
    end loop;
  end;
  return jsonb_build_object('fired', v_fired, 'moved', v_moved, 'refused', v_refused);
end $$;
