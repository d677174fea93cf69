-- The single forms of failing and releasing share this: find the job's place, end it, answer its new status.
create or replace function writ_data.abort_one(p_job_id uuid, p_lease_token uuid, p_abort_kind text, p_error_code text, p_error_message text, p_actor text)
  returns jsonb language plpgsql as $$
declare
  v_position integer := writ_data.lease_position(p_lease_token, p_job_id);
  v_answer jsonb;
begin
  if v_position is null then
    return writ_data.refusal('lease_lost');
  end if;
  v_answer := writ.fn_job_abort_many(p_lease_token, array[v_position], array[p_abort_kind], array[p_error_code], array[p_error_message], 0, p_actor);
  if v_answer ? 'reason' then
    return v_answer;
  elsif v_answer #> '{refused,0}' is not null then
    return writ_data.refusal(v_answer #>> '{refused,0,reason}');
  end if;
  return jsonb_build_object('job_id', p_job_id, 'status', case
    when (v_answer ->> 'queued')::integer = 1 then 'queued' when (v_answer ->> 'retry_waiting')::integer = 1 then 'retry_waiting'
    when (v_answer ->> 'dead_letter')::integer = 1 then 'dead_letter' else 'cancelled' end);
end $$;
