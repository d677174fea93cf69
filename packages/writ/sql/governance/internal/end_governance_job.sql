-- Ends a governance job whose run ended without completing. The job fails, with every consequence
-- (fail_governance_job). A repeated call changes nothing. Locks the contract, then the governance
-- job.
create or replace function writ_data.end_governance_job(
  p_job uuid,
  p_actor text,
  p_at timestamptz
) returns void
language plpgsql
as $$
declare
  g writ_data.governance_job;
  r writ_data.run;
  v_step text;
  v_code text;
  v_event text;
  v_reason text;
begin
  perform from writ_data.contract c
  where c.contract_id = (
    select x.contract_id from writ_data.governance_job x where x.job_id = p_job
  )
  for no key update;
  select * into g from writ_data.governance_job where job_id = p_job for no key update;
  select * into r from writ_data.run where run_id = g.run_id;
  delete from writ_data.governance_ended where job_id = p_job;
  if g.status not in ('PENDING', 'RUNNING') or r.status not in ('FAILED', 'CANCELLED') then
    return;
  end if;

  v_step := r.ending_with #>> '{rootCause,stepId}';
  v_code := r.ending_with #>> '{rootCause,errorCode}';
  v_reason := case
    when r.status = 'CANCELLED' then coalesce(r.ending_with ->> 'reason', 'stopped')
    else concat_ws(
      ': ',
      format(
        case when v_step like '%-%' then 'Steps %s failed' else 'Step %s failed' end,
        substr(v_step, 2)
      ),
      coalesce(nullif(r.ending_with #>> '{rootCause,errorMessage}', ''), v_code)
    )
  end;
  v_event := coalesce(r.ending_with ->> 'because', v_code);
  if r.status = 'CANCELLED' and r.ending_with ->> 'because' is null then
    v_event := 'emergency_stop';
  elsif v_event is null or v_event not in (
    'health_block', 'scope_violation', 'pre_value_conflict', 'duration_exceeded'
  ) then
    v_event := 'step_failed';
  end if;

  if g.kind = 'forward' and g.status = 'PENDING' and v_code = 'window_elapsed' then
    perform writ_data.move_governance_job(
      p_job, array['CANCELLED'], 'window_elapsed', v_reason, p_actor, p_at
    );
    perform writ_data.close_contracts(
      array[g.contract_id], 'FAILED', array['window_elapsed'], p_actor, p_at
    );
  else
    perform writ_data.fail_governance_job(p_job, v_event, v_reason, p_actor, p_at);
  end if;
end $$;
