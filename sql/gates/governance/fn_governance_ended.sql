-- The run of a governance job has ended without completing: the job fails, and what follows from that happens. Told again it changes nothing. Answers {job_id, status, rollback_job_id}.
-- Callers: writ_applier
create or replace function writ.fn_governance_ended(p_job_id uuid, p_actor text) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := writ.now(); g writ_data.governance_job; r writ_data.run; v_code text; v_event text; v_reason text;
begin
  perform from writ_data.contract c where c.contract_id = (select x.contract_id from writ_data.governance_job x where x.job_id = p_job_id) for no key update;
  select * into g from writ_data.governance_job where job_id = p_job_id for no key update;
  if not found then
    return writ_data.refusal('job_not_found', p_job_id::text);
  end if;
  select * into r from writ_data.run where run_id = g.run_id;
  if g.status in ('PENDING', 'RUNNING') and r.status in ('FAILED', 'CANCELLED') then
    v_code := r.ending_with #>> '{rootCause,errorCode}';
    v_reason := case when r.status = 'CANCELLED' then coalesce(r.ending_with ->> 'reason', 'stopped') else concat_ws(': ', format(case when r.ending_with #>> '{rootCause,stepId}' like '%-%' then 'Steps %s failed' else 'Step %s failed' end, substr(r.ending_with #>> '{rootCause,stepId}', 2)), coalesce(nullif(r.ending_with #>> '{rootCause,errorMessage}', ''), v_code)) end;
    v_event := coalesce(r.ending_with ->> 'because', v_code);
    if r.status = 'CANCELLED' and r.ending_with ->> 'because' is null then
      v_event := 'emergency_stop';
    elsif v_event not in ('health_block', 'scope_violation', 'pre_value_conflict', 'duration_exceeded') then
      v_event := 'step_failed';
    end if;
    if g.kind = 'forward' and g.status = 'PENDING' and v_code = 'window_elapsed' then
      perform writ_data.move_governance_job(p_job_id, array['CANCELLED'], 'window_elapsed', v_reason, p_actor, v_now);
      perform writ_data.close_contracts(array[g.contract_id], 'FAILED', array['window_elapsed'], p_actor, v_now);
    else
      perform writ_data.fail_governance_job(p_job_id, v_event, v_reason, p_actor, v_now);
    end if;
  end if;
  return (select jsonb_strip_nulls(jsonb_build_object('job_id', x.job_id, 'status', x.status, 'rollback_job_id', x.rollback_job_id)) from writ_data.governance_job x where x.job_id = p_job_id);
end $$;
