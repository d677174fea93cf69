-- Ends a job as succeeded, in the signature of specification 002 §4. p_result_ref names a result
-- that is kept elsewhere.
-- Callers: writ_worker, writ_applier
-- Answers: {job_id, status: 'succeeded'}.
-- Refuses: lease_lost, and what fn_job_succeed_many refuses.
-- Locks:   as fn_job_succeed_many does.
create or replace function writ.fn_job_succeed(
  p_job_id uuid,
  p_lease_token uuid,
  p_result_ref text,
  p_actor text
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_position integer := writ_data.lease_position(p_lease_token, p_job_id);
  v_answer jsonb;
begin
  if v_position is null then
    return writ_data.refused('fn_job_succeed', p_actor, 'lease_lost');
  end if;
  v_answer := writ.fn_job_succeed_many(
    p_lease_token, array[v_position], p_actor => p_actor,
    p_result_refs => case when p_result_ref is not null then array[p_result_ref] end
  );
  if v_answer ? 'reason' then
    return v_answer;
  elsif v_answer #> '{refused,0}' is not null then
    return writ_data.refusal(v_answer #>> '{refused,0,reason}');
  end if;
  return jsonb_build_object('job_id', p_job_id, 'status', 'succeeded');
end $$;
