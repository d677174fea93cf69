-- Why the queue would refuse the job of a schedule, or null. The job is enqueued and taken back, so
-- that a definition is refused for what it would be refused for when it fires.
create or replace function writ_data.schedule_job_refusal(
  p_schedule writ_data.schedule,
  p_actor text
) returns jsonb
language plpgsql
as $$
declare
  v_answer jsonb;
begin
  v_answer := writ_data.enqueue_jobs(
    jsonb_build_array(writ_data.schedule_job(p_schedule, p_schedule.next_tick)), p_actor
  );
  raise exception using errcode = 'WR003', message = 'take back';
exception when sqlstate 'WR003' then
  return case
    when v_answer ? 'reason' then v_answer
    when v_answer #> '{refused,0}' is not null then writ_data.refusal(
      v_answer #>> '{refused,0,reason}', v_answer #>> '{refused,0,detail}'
    )
  end;
end $$;
