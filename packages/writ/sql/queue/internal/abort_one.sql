-- Ends one execution without success: finds the job's place in its lease, ends it, and answers the
-- job's new status, {job_id, status}. fn_job_fail_* and fn_job_release share it.
-- Refuses: lease_lost, committed_cannot_fail, committed_cannot_release; with p_by_gate also
--          invalid_actor and tenant_forbidden.
create or replace function writ_data.abort_one(
  p_job_id uuid,
  p_lease_token uuid,
  p_abort_kind text,
  p_error_code text,
  p_error_message text,
  p_actor text,
  p_by_gate boolean default false
) returns jsonb
language plpgsql
as $$
declare
  v_position integer := writ_data.lease_position(p_lease_token, p_job_id);
  v_tenant text;
  v_answer jsonb;
begin
  if v_position is null then
    return writ_data.refusal('lease_lost');
  end if;
  if p_by_gate then
    v_tenant := writ_data.caller_tenant();
    if length(p_actor) > 200 then
      return writ_data.refusal('invalid_actor');
    elsif v_tenant is not null and writ_data.foreign_jobs(array[p_job_id], v_tenant) then
      return writ_data.refusal('tenant_forbidden');
    end if;
  end if;

  v_answer := writ_data.abort_jobs(
    p_lease_token, array[v_position], array[p_abort_kind], array[p_error_code],
    array[p_error_message], 0, p_actor
  );
  if v_answer ? 'reason' then
    return v_answer;
  elsif v_answer #> '{refused,0}' is not null then
    return writ_data.refusal(v_answer #>> '{refused,0,reason}');
  end if;
  return jsonb_build_object('job_id', p_job_id, 'status', case
    when (v_answer ->> 'queued')::integer = 1 then 'queued'
    when (v_answer ->> 'retry_waiting')::integer = 1 then 'retry_waiting'
    when (v_answer ->> 'dead_letter')::integer = 1 then 'dead_letter'
    else 'cancelled'
  end);
end $$;
