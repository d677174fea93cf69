-- A run cannot be moved: it fails, with the reason as its root cause and an alert, RUN_STUCK, so
-- that every other run goes on. Steps whose jobs have ended are closed first. What was done is
-- undone, unless undoing is what raises. Answers whether the run could be made to end.
create or replace function writ_data.set_run_aside(
  p_run uuid,
  p_code text,
  p_message text,
  p_actor text,
  p_at timestamptz
) returns boolean
language plpgsql
set enable_seqscan = off
as $$
declare
  v_run writ_data.run;
  v_undo boolean;
  v_set boolean := false;
begin
  select * into v_run from writ_data.run where run_id = p_run for no key update;
  if v_run.status in ('RUNNING', 'PAUSED') and v_run.engine = 'native' then
    foreach v_undo in array array[true, false] loop
      begin
        perform writ_data.close_ended_steps(p_run, p_actor, p_at);
        if v_run.ending is null then
          perform writ_data.begin_ending(p_run, 'FAILED',
            jsonb_build_object('rootCause', jsonb_build_object('stepId', 'RUN',
              'errorCode', p_code, 'errorMessage', left(p_message, 1000)))
              || case when v_undo then '{}'::jsonb else '{"undo": false}' end,
            null, p_actor, p_at);
        else
          update writ_data.run
          set ending_with = coalesce(ending_with, '{}') || '{"undo": false}'
          where run_id = p_run and not v_undo;
          perform writ_data.wind_up(p_run, p_actor, p_at);
        end if;
        v_set := true;
        exit;
      exception when others then
        if writ_data.is_transient(sqlstate) or writ_data.is_callers_fault(sqlstate) then
          raise;
        end if;
      end;
    end loop;
  end if;
  perform writ_data.raise_alert('RUN_STUCK', 'P2', v_run.tenant_id, 'run/' || p_run,
    jsonb_build_object('code', p_code, 'ended', v_set), p_actor, p_at);
  return v_set;
end $$;
